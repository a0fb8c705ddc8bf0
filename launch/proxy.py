"""What pages and API are told where a proxy signs people in (AUTH=proxy)."""

from backend.settings import Settings
from launch.folders import make_folder
from launch.private_files import password_in

PROXY = "proxy"
KEY_FILE = "pages.key"


def pages_key(settings: Settings) -> dict[str, str]:
    """Return the key by which the API knows the pages' server: PAGES_KEY, or DATA_DIR's file.

    The file is made when it is first needed; only its owner may read it.
    """
    if PROXY not in settings.ways:
        return {}
    given = settings.pages_key.get_secret_value()
    folder = make_folder(settings.data_dir.resolve())
    return {"PAGES_KEY": given or password_in(folder / KEY_FILE)}


def proxy_flags(settings: Settings) -> dict[str, str]:
    """Return the flags that tell the pages whom to believe; none without such proxies."""
    if PROXY not in settings.ways:
        return {}
    return {
        "trusted-proxies": settings.trusted_proxies,
        "identity-headers": ",".join(settings.identity_headers),
    }
