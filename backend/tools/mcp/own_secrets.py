"""A server's own secrets, replaced by their names in all that it sends.

Servers repeat them: one lists its environment, another quotes the request in an error. Without
this, models, people, logs and exports would get them.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Thread
from typing import Any, TextIO, TypeVar

from langchain_core.tools import ToolException
from pydantic import BaseModel

MIN_CHARS = 6  # what is shorter is no secret, and occurs in any text
MAX_LINE_BYTES = 65_536

Message = TypeVar("Message", bound=BaseModel)


class OwnSecrets:
    """The secrets that a server was given: their values by name."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._names = {
            written: f"${{{name}}}"
            for name, value in values.items()
            if len(value) >= MIN_CHARS
            for written in (value, json.dumps(value)[1:-1])  # as it stands in a text of JSON
        }
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if self._names else None

    def hide(self, text: str) -> str:
        """Return the text with the name of each secret in place of its value."""
        if self._pattern is None:
            return text
        return self._pattern.sub(lambda found: self._names[found[0]], text)

    def hide_in(self, message: Message) -> Message:
        """Return the message with all its texts so; the same message if it holds no secret."""
        if self._pattern is None:
            return message
        fields = message.model_dump(mode="json", by_alias=True)
        hidden = self._in_value(fields)
        return message if hidden == fields else type(message).model_validate(hidden)

    def in_error(self, error: ToolException) -> ToolException:
        """Return an error with the sentence so."""
        return ToolException(self.hide(str(error)))

    @contextmanager
    def log(self) -> Iterator[TextIO | int]:
        """Yield where the server's process may write its own log: it reaches this process's so."""
        if self._pattern is None:
            yield sys.stderr
            return
        reading, writing = os.pipe()
        # It ends with the process, and with those that it has started.
        Thread(target=self._copy, args=(reading,), daemon=True).start()
        try:
            yield writing
        finally:
            os.close(writing)

    def _copy(self, reading: int) -> None:
        with open(reading, "rb") as lines:
            while line := lines.readline(MAX_LINE_BYTES):
                sys.stderr.write(self.hide(line.decode(errors="replace")))
                sys.stderr.flush()

    def _in_value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, dict):
            return {self.hide(key): self._in_value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._in_value(item) for item in value]
        return value
