"""Answers that are long enough to be stopped, and how soon a stop is to be obeyed."""

from tests.fakes import script

STOP_SECONDS = 15  # who is not stopped goes on for 20 seconds or more
LONG = script({"text": "word " * 400, "delay": 0.05})
CALLS = {"tools": [{"name": "one", "id": "a"}, {"name": "two", "id": "b"}]}
