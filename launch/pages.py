"""What the pages are told: how to log and, where a proxy signs people in, whom to believe."""

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


def pages_flags(settings: Settings) -> dict[str, str]:
    """Return the flags of the pages beside those of their address."""
    flags: dict[str, str] = {"log-level": settings.log_level, "log-format": settings.log_format}
    if PROXY not in settings.ways:
        return flags
    return flags | {
        "trusted-proxies": settings.trusted_proxies,
        "identity-headers": ",".join(settings.identity_headers),
    }
