"""What a process writes: its own records and those of libraries, in one format."""

import json
import subprocess
import sys

from tests.processes import ROOT

SAY = """
import logging, threading
from streamlit.logger import get_logger
before = get_logger("streamlit.before")
from backend.logs.setup import set_up_logs
from ui.streamlit_logs import join_streamlit
set_up_logs("pages", "WARNING", "json")
join_streamlit()
logging.getLogger("colloquy.audit").info("made session", extra={"event": {"id": 1}})
before.warning("from a logger of before")
get_logger("streamlit.after").warning("from a later one")
logging.getLogger("colloquy.any").info("too quiet")
thread = threading.Thread(target=lambda: 1 / 0, name="worker bee")
thread.start()
thread.join()
try:
    raise OSError("told already")
except OSError as error:
    logging.getLogger("colloquy.api").exception("failed")
    logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=error)
raise ValueError("the end")
"""


def test_all_that_a_process_says_is_in_one_format_and_said_once():
    command = [sys.executable, "-c", SAY]

    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stderr

    records = [json.loads(line) for line in said.splitlines()]
    assert [(one["logger"], one["message"]) for one in records] == [
        ("colloquy.audit", "made session"),
        ("streamlit.before", "from a logger of before"),
        ("streamlit.after", "from a later one"),
        ("backend.logs.setup", "The thread worker bee has ended"),
        ("colloquy.api", "failed"),
        ("backend.logs.setup", "This process ends"),
    ]
    assert records[0]["event"] == {"id": 1}
    assert "ZeroDivisionError" in records[3]["traceback"]
    assert "ValueError: the end" in records[-1]["traceback"]
