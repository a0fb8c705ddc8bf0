"""Where a browser goes after a sign-in: a path of our own, never another site."""

from urllib.parse import quote, urlencode, urlsplit

SIGN_IN = "/sign-in"
HOME = "/"
ACCOUNT = "/account"
VISIT = f"{SIGN_IN}/oidc/{{provider}}"
LONGEST = 2_000  # characters


def own_path(place: str | None) -> str:
    """Return a path of our own with its query; the first page for everything else.

    Browsers read `\\` as `/`, skip tabs and line ends, and take `//host` for another site.
    """
    if not place or len(place) > LONGEST or not place.isprintable() or "\\" in place:
        return HOME
    try:
        parts = urlsplit(place)
    except ValueError:
        return HOME
    is_ours = not parts.scheme and place.startswith("/") and not place.startswith("//")
    if not is_ours or parts.path.startswith("//") or is_of_sign_in(parts.path):
        return HOME
    return parts.path + (f"?{parts.query}" if parts.query else "")


def is_of_sign_in(path: str) -> bool:
    """Return whether a path is one of the pages on which people sign in."""
    return path == SIGN_IN or path.startswith(f"{SIGN_IN}/")


def sign_in_path(place: str) -> str:
    """Return the sign-in page's path, from which a person comes back to this place."""
    place = own_path(place)
    return SIGN_IN if place == HOME else f"{SIGN_IN}?{urlencode({'next': place})}"


def visit_path(provider: str) -> str:
    """Return the path by which a browser goes to a provider."""
    return VISIT.format(provider=quote(provider, safe=""))
