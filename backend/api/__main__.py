"""The API process: `python -m backend.api --port 8000`."""

import argparse
import sys

import uvicorn

from backend.api.app import THREADS, create_app
from backend.bootstrap import bootstrap
from backend.configuration import read_settings
from backend.errors import ConfigurationError
from backend.logs import set_up_logs
from backend.web.connections import ConnectionLimits, limit_connections

DEFAULT_PORT = 8000
CLOSE_SECONDS = 3  # streams to pages have no end of their own


def main() -> int:
    """Serve until told to end."""
    try:
        settings = read_settings()
        set_up_logs(settings.log_level)
        app = create_app(bootstrap(settings, threads=THREADS))
    except ConfigurationError as error:
        sys.stderr.write(f"{error.detail}\n")
        return 2
    parser = argparse.ArgumentParser(description="Serve Colloquy's API.")
    parser.add_argument("--host", default=settings.host)
    parser.add_argument("--port", type=int, default=settings.api_port or DEFAULT_PORT)
    arguments = parser.parse_args()
    uvicorn.run(
        app,
        host=arguments.host,
        port=arguments.port,
        log_level="warning",
        access_log=False,
        http=limit_connections(ConnectionLimits()),
        timeout_graceful_shutdown=CLOSE_SECONDS,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
