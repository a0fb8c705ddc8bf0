"""A running tool's progress: one short line, no more often than people can read."""

import asyncio
from collections.abc import Callable

from colloquy_kit.messages.clean import clean_text

PAUSE_SECONDS = 0.5
MAX_CHARS = 200


class ProgressLine:
    """Passes on one call's progress; if it comes too fast, only the latest after a pause.

    `hide`: replaces what nobody may read in a text of the server.
    """

    def __init__(self, tell: Callable[[str], None], hide: Callable[[str], str]) -> None:
        self._tell, self._hide = tell, hide
        self._said = self._told = ""
        self._pause: asyncio.TimerHandle | None = None

    def say(self, text: str) -> None:
        """Take a line from the server."""
        text = clean_text(self._hide(text)[: 4 * MAX_CHARS])
        self._said = " ".join(text.split())[:MAX_CHARS]
        if self._pause is None:
            self._pass_on()

    async def count(self, progress: float, total: float | None, message: str | None) -> None:
        """Take a progress notification from the SDK."""
        counted = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        self.say(f"{message} ({counted})" if message else counted)

    def close(self) -> None:
        """Stop passing on progress: the call has ended."""
        if self._pause is not None:
            self._pause.cancel()

    def _pass_on(self) -> None:
        self._pause = None
        if self._said and self._said != self._told:
            self._told = self._said
            self._tell(self._said)
            self._pause = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._pass_on)
