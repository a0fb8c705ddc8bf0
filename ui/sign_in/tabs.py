"""Whose tab an upload is for: the sign-in whose socket was told its address.

Streamlit takes a file for everybody who knows where to send it. Each address names a tab, and is
told to the tab's own socket just before the upload, so the first that is told a tab's owns it.
"""

import re
from collections import OrderedDict

from starlette.types import Message, Send

UPLOADS = "/_stcore/upload_file/"
MOST = 20_000  # tabs; one that is forgotten is told an address again before its next upload
_PLACE = re.compile(re.escape(UPLOADS).encode() + rb"([0-9A-Za-z-]{1,64})/")


class Tabs:
    """The sign-ins of tabs that were told where to send files."""

    def __init__(self) -> None:
        self._owners: OrderedDict[str, str] = OrderedDict()

    def may_upload(self, path: str, sign_in: str) -> bool:
        """Return whether a path is none for uploads, or one of this sign-in's tabs."""
        if not path.startswith(UPLOADS):
            return True
        return self._owners.get(path.removeprefix(UPLOADS).partition("/")[0]) == sign_in

    def noting(self, sign_in: str, send: Send) -> Send:
        """Return `send` of a socket of this sign-in, which notes what the socket is told."""

        async def pass_on(message: Message) -> None:
            if message["type"] == "websocket.send":
                for found in _PLACE.finditer(message.get("bytes") or b""):
                    self._note(found[1].decode(), sign_in)
            await send(message)

        return pass_on

    def _note(self, tab: str, sign_in: str) -> None:
        self._owners.setdefault(tab, sign_in)
        self._owners.move_to_end(tab)
        while len(self._owners) > MOST:
            self._owners.popitem(last=False)
