"""The log format of all processes: one line per record, to standard error."""

import logging

FORMAT = "%(levelname)-7s %(name)s: %(message)s"
QUIET = ("httpx", "httpx2", "httpcore", "openai", "rq", "rq.worker", "uvicorn.access", "langsmith")


def set_up_logs(level: str) -> None:
    """Set the level of our own loggers; libraries log warnings and above."""
    logging.basicConfig(level=level, format=FORMAT)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    # It quotes unreadable server output, which may contain a secret.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
