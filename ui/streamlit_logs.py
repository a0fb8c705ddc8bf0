"""Lets Streamlit's records go the way of all others; each of its loggers would write its own."""

import logging

from streamlit import logger as streamlit_logger


def join_streamlit() -> None:
    """Have the root logger write Streamlit's records, also of loggers that are made later.

    It relies on internals of Streamlit 1.67: `setup_formatter` is called for each new logger.
    """
    streamlit_logger.setup_formatter = _join
    streamlit_logger.update_formatter()


def _join(logger: logging.Logger) -> None:
    if own := getattr(logger, "streamlit_console_handler", None):
        logger.removeHandler(own)
    logger.propagate = True
