"""Receives a file from a form as it arrives: never whole in memory, written off the loop."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import unquote_to_bytes

import anyio
import anyio.to_thread
from fastapi import Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from backend.errors.base import AppError, InvalidInput
from backend.errors.files import FileTooLarge
from backend.files.store import FileStore, Incoming

AT_ONCE = 8  # threads that write
LONGEST_FIELD = 1_000
MOST_FIELDS = 10
FORM_BYTES = 64_000  # of the form, besides the file
_BLOCK = 1_000_000
_MEGABYTE = 1_000_000
_ESCAPED = re.compile(rb"%(?:0[AaDd]|22)")  # the only escapes of file names in forms

WRITING = anyio.CapacityLimiter(AT_ONCE)


class NotAForm(AppError):
    """Send the file as multipart/form-data, in a field called `file`."""

    status = 422


@dataclass
class Form:
    """The content of a form: its one file, and its other fields."""

    incoming: Incoming
    file_name: str | None = None
    fields: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Most:
    """How large a file may be, the setting that says so, and what to do with a larger one."""

    megabytes: int
    setting: str = "MAX_FILE_MB"
    advice: str = "Split it, or save it as Parquet, which is smaller."


async def receive(request: Request, store: FileStore, most: Most) -> Form:
    """Return the form of a request, its file written. The caller keeps or drops the file.

    Raise NotAForm, InvalidInput or FileTooLarge, and leave nothing behind.
    """
    boundary = _boundary(request)
    length = request.headers.get("content-length", "0")
    _check_size(int(length) - FORM_BYTES, most)
    form = Form(await _in_thread(store.begin))
    try:
        await _read(request, boundary, form, most)
    except BaseException:
        with anyio.CancelScope(shield=True):
            await _in_thread(form.incoming.drop)
        raise
    return form


async def _read(request: Request, boundary: bytes, form: Form, most: Most) -> None:
    parts = _Parts(form)
    try:
        parser = MultipartParser(boundary, parts.callbacks())
        async for piece in request.stream():
            parser.write(piece)
            if len(parts.arrived) >= _BLOCK:
                await _write(parts, most)
        parser.finalize()
    except FormParserError:
        raise NotAForm(
            "The form is incomplete or malformed. Send the file as multipart/form-data, in a "
            "field called `file`."
        ) from None
    await _write(parts, most)
    if form.file_name is None:
        raise NotAForm


async def _write(parts: "_Parts", most: Most) -> None:
    incoming, piece = parts.form.incoming, bytes(parts.arrived)
    parts.arrived.clear()
    _check_size(incoming.size + len(piece), most)
    await _in_thread(partial(incoming.write, piece))


async def _in_thread(work: Callable[[], Any]) -> Any:
    return await anyio.to_thread.run_sync(work, limiter=WRITING)


def _check_size(size: int, most: Most) -> None:
    if size > most.megabytes * _MEGABYTE:
        raise FileTooLarge(
            f"The file is larger than the limit of {most.megabytes:,} MB ({most.setting}). "
            f"{most.advice}"
        )


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise NotAForm
    return options[b"boundary"]


class _Parts:
    """The parser's callbacks, which collect the parts of a form."""

    def __init__(self, form: Form) -> None:
        self.form = form
        self.arrived = bytearray()  # bytes of the file that are not written yet
        self._headers: dict[bytes, bytes] = {}
        self._header, self._value = b"", b""
        self._name = ""
        self._is_file = False
        self._text = b""

    def callbacks(self) -> Any:
        """Return the callbacks by the parser's names."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._take_header,
            "on_header_value": self._take_value,
            "on_header_end": self._end_header,
            "on_headers_finished": self._look,
            "on_part_data": self._take,
            "on_part_end": self._end,
        }

    def _begin(self) -> None:
        self._headers = {}
        self._text = b""

    def _take_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _take_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _end_header(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header, self._value = b"", b""

    def _look(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition"))
        self._name = _text(options.get(b"name", b""))
        self._is_file = b"filename" in options
        if self._is_file != (self._name == "file"):
            raise NotAForm
        if not self._is_file:
            return
        if self.form.file_name is not None:
            raise InvalidInput("This form has several files. Send one file at a time.")
        self.form.file_name = _text(
            _ESCAPED.sub(lambda e: unquote_to_bytes(e[0]), options[b"filename"])
        )

    def _take(self, data: bytes, start: int, end: int) -> None:
        if self._is_file:
            self.arrived += data[start:end]
            return
        self._text += data[start:end]
        if len(self._text) > LONGEST_FIELD:
            raise InvalidInput(f"`{self._name[:80]}` is too long.")

    def _end(self) -> None:
        if self._is_file:
            return
        if self._name in self.form.fields:
            raise InvalidInput(f"`{self._name[:80]}`: sent more than once; send it once.")
        if len(self.form.fields) >= MOST_FIELDS:
            raise InvalidInput("The form has too many fields.")
        self.form.fields[self._name] = _text(self._text)


def _text(sent: bytes) -> str:
    return sent.decode("utf-8", "replace")
