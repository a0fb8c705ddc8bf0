"""Starts the demo model: `python -m backend.demo_model --port N`."""

import argparse

import uvicorn

from backend.addresses import Address
from backend.demo_model.app import create_app
from backend.privacy import hide_process
from backend.web.connections import ConnectionLimits, limit_connections
from backend.web.protection import protect


def main() -> None:
    """Serve until stopped."""
    hide_process()
    parser = argparse.ArgumentParser(description="Colloquy's demo model, OpenAI-compatible.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--delay-ms", type=float, default=15.0, help="pause after each word")
    options = parser.parse_args()
    app = protect(create_app(options.delay_ms), Address(options.host, options.port))
    uvicorn.run(
        app,
        host=options.host,
        port=options.port,
        http=limit_connections(ConnectionLimits()),
        log_level="warning",
    )


if __name__ == "__main__":
    main()
