"""How all processes write their logs: one line each, to standard error."""

import logging

FORMAT = "%(levelname)-7s %(name)s: %(message)s"
QUIET = ("httpx", "httpx2", "httpcore", "openai", "rq", "rq.worker", "uvicorn.access", "langsmith")


def set_up_logs(level: str) -> None:
    """Set the level of our own logs; libraries speak from warnings on."""
    logging.basicConfig(level=level, format=FORMAT)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    # It quotes what a server said that it cannot read, which may hold a secret.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
