"""What a running tool says of its progress: one short line, and not more often than one reads."""

import asyncio
from collections.abc import Callable

from backend.text import clean_text

PAUSE_SECONDS = 0.5
MAX_CHARS = 200


class ProgressLine:
    """Passes on what one call says; of what comes too fast the latest, once the pause is over."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._said = self._told = ""
        self._pause: asyncio.TimerHandle | None = None

    def say(self, text: str) -> None:
        """Take what the server has said."""
        self._said = " ".join(clean_text(text[: 4 * MAX_CHARS]).split())[:MAX_CHARS]
        if self._pause is None:
            self._pass_on()

    async def count(self, progress: float, total: float | None, message: str | None) -> None:
        """Take a notification of progress, as the SDK hands it over."""
        counted = f"{progress:g} of {total:g}" if total else f"{progress:g}"
        self.say(f"{message[: 4 * MAX_CHARS]} ({counted})" if message else counted)

    def close(self) -> None:
        """The call has ended: nothing more is passed on."""
        if self._pause is not None:
            self._pause.cancel()

    def _pass_on(self) -> None:
        self._pause = None
        if self._said and self._said != self._told:
            self._told = self._said
            self._tell(self._said)
            self._pause = asyncio.get_running_loop().call_later(PAUSE_SECONDS, self._pass_on)
