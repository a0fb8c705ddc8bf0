"""The log format of all processes: one line per record, to standard error."""

import logging

FORMAT = "%(levelname)-7s %(name)s: %(message)s"
AUDIT = "colloquy.audit"  # each event as a line of JSON
REFUSED = "colloquy.refused"  # each refused call as a line of JSON
QUIET = ("httpx", "httpx2", "httpcore", "openai", "rq", "rq.worker", "uvicorn.access", "langsmith")


def set_up_logs(level: str) -> None:
    """Set the level of our own loggers; libraries log warnings and above."""
    logging.basicConfig(level=level, format=FORMAT)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    # The audit trail is logged however quiet the rest is.
    logging.getLogger(AUDIT).setLevel(logging.INFO)
    logging.getLogger(REFUSED).setLevel(logging.INFO)
    # It quotes unreadable server output, which may contain a secret.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
