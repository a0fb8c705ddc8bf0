"""The API process: `python -m backend.api --port 8000`."""

import argparse
import gc
import sys
from contextlib import suppress

from backend.addresses import Address
from backend.api.app import THREADS, create_app, serve_app
from backend.api.probe import open_port
from backend.api.server import ApiServer
from backend.bootstrap import bootstrap, prepare_database
from backend.configuration import read_settings
from backend.data.sources import PRELOADED
from backend.errors.base import ConfigurationError
from backend.logs.setup import own_name, set_up_logs
from backend.privacy import hide_process
from backend.settings import Settings
from backend.telemetry import tracing
from db.roles import DatabaseRole

DEFAULT_PORT = 8000


def main() -> int:
    """Serve until the process is told to end."""
    hide_process()
    try:
        settings = read_settings()
        set_up_logs("api", settings.log_level, settings.log_format)
        tracing.start("api", own_name())
        arguments = _read_arguments(settings)
        probe_port = open_port(arguments.host, settings.probe_port)
        services = bootstrap(settings, threads=THREADS, preload=PRELOADED, role=DatabaseRole.API)
        prepare_database(services, wait=arguments.wait)
    except ConfigurationError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 2
    app = create_app(services)
    address = Address(arguments.host, arguments.port, settings.public_url, settings.allowed_hosts)
    gc.freeze()  # modules never become garbage; scanning them would delay every request
    with suppress(KeyboardInterrupt):  # raised again once the server has ended
        ApiServer(app, serve_app(app, address), address, settings, probe_port).run()
    return 0


def _read_arguments(settings: Settings) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Serve Colloquy's API.")
    parser.add_argument("--host", default=settings.host)
    parser.add_argument("--port", type=int, default=settings.api_port or DEFAULT_PORT)
    parser.add_argument(
        "--wait", action="store_true", help="start also while the database does not answer"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
