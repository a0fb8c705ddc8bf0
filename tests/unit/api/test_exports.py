"""Exports are made in the few threads for long reads, from their first piece to their last."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import anyio.to_thread
import pytest
from fastapi import Response
from fastapi.responses import StreamingResponse

from backend.api.http import threads
from backend.api.routes.conversations import exports
from backend.export.history import History

EXPORTS = 12


class Writer:
    """Writes documents of two pieces, each of which waits until it may be made."""

    def __init__(self) -> None:
        self.may_write = threading.Event()
        self.enough = threading.Event()
        self.running, self.most = 0, 0
        self._lock = threading.Lock()

    def __call__(self, _: Any) -> Iterator[str]:
        """Yield the pieces."""
        for piece in ("one", "two"):
            with self._lock:
                self.running += 1
                self.most = max(self.most, self.running)
                if self.running >= threads.LONG_READS:
                    self.enough.set()
            self.may_write.wait(30)
            with self._lock:
                self.running -= 1
            yield piece


@pytest.fixture
def writer(monkeypatch: pytest.MonkeyPatch) -> Writer:
    made = Writer()
    opened = SimpleNamespace(session=SimpleNamespace(title="T", owner="me"))
    monkeypatch.setattr(History, "open", lambda *_: opened)
    monkeypatch.setattr(exports.audit, "record", lambda *_: None)
    monkeypatch.setitem(exports._FORMATS, "markdown", ("text/markdown", "md", made))
    monkeypatch.setattr(threads, "_READS", threads.Threads(threads.LONG_READS))
    return made


async def export() -> str:
    """Return a whole export as its client gets it."""
    database = SimpleNamespace(transaction=nullcontext)
    settings = SimpleNamespace(pages_url="http://pages")
    given: Any = SimpleNamespace(
        user_id="me",
        has=lambda _: False,
        database=database,
        settings=settings,
        figures=print,
        draw=print,
    )
    answer: Response = await exports.export_session(uuid4(), given, given, given, "markdown")
    assert isinstance(answer, StreamingResponse)
    return "".join([str(piece) async for piece in answer.body_iterator])


async def story(writer: Writer) -> list[str]:
    """Begin many exports, make a small request meanwhile, then let them be written."""
    begun = [asyncio.create_task(export()) for _ in range(EXPORTS)]
    await asyncio.to_thread(writer.enough.wait, 30)
    for _ in range(20):
        await asyncio.sleep(0.01)
    limiter = anyio.to_thread.current_default_thread_limiter()
    assert limiter.borrowed_tokens == 0
    assert await anyio.to_thread.run_sync(lambda: "small") == "small"
    assert writer.most == threads.LONG_READS
    writer.may_write.set()
    return list(await asyncio.gather(*begun))


def test_only_as_many_exports_run_at_once_as_long_reads_may(writer: Writer) -> None:
    try:
        assert asyncio.run(story(writer)) == ["onetwo"] * EXPORTS
    finally:
        writer.may_write.set()
    assert writer.most == threads.LONG_READS
