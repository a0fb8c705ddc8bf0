"""The pages' process: `python -m ui --port 8501`."""

import argparse
import sys

import uvicorn

from backend.addresses import Address, check_allowed_hosts, check_public_url, read_networks
from backend.logs.formats import FORMATS
from backend.logs.setup import LEVELS, set_up_logs
from backend.privacy import hide_process
from backend.web.connections import ConnectionLimits, limit_connections
from backend.web.identity import HeaderNames
from backend.web.sockets import MessageLimits, limit_messages
from ui.client import api_servers
from ui.server import NAMES, create_app
from ui.streamlit_logs import join_streamlit

CLOSE_SECONDS = 3  # a page's WebSocket never closes by itself
PING_SECONDS = 30.0
HEALTH_PATHS = frozenset({b"/_stcore/health"})


def main() -> int:
    """Serve the pages until the process is stopped."""
    hide_process()
    parser = argparse.ArgumentParser(description="Serve Colloquy's pages.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8501)
    parser.add_argument("--public-url", type=check_public_url, default="")
    parser.add_argument("--allowed-hosts", type=check_allowed_hosts, default="")
    parser.add_argument("--trusted-proxies", type=read_networks, default=())
    parser.add_argument("--identity-headers", type=HeaderNames.read, default=NAMES)
    parser.add_argument("--log-level", choices=LEVELS, default="INFO")
    parser.add_argument("--log-format", choices=tuple(FORMATS), default="text")
    given = parser.parse_args()
    try:
        api_servers()
    except ValueError as error:
        parser.error(f"API_URL {error}")
    set_up_logs("pages", given.log_level, given.log_format)
    join_streamlit()
    address = Address(given.host, given.port, given.public_url, given.allowed_hosts)
    uvicorn.run(
        create_app(address, given.trusted_proxies, given.identity_headers),
        host=given.host,
        port=given.port,
        log_config=None,  # as everything else
        log_level="warning",
        access_log=False,
        proxy_headers=False,  # any client can send them; the settings name the proxy's addresses
        http=limit_connections(ConnectionLimits(), HEALTH_PATHS),
        timeout_graceful_shutdown=CLOSE_SECONDS,
        ws=limit_messages(MessageLimits()),
        ws_max_size=MessageLimits().largest,
        # As in `streamlit run`.
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        # A growing paragraph is sent repeatedly; compression makes the repeated part nearly free.
        ws_per_message_deflate=True,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
