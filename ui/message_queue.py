"""The queue of what the server has to tell a browser: what a finished run has drawn stays in it.

Where a fragment's run begins, Streamlit 1.67 drops what waits here of that fragment, also where it
is part of a whole run that has finished. The browser is then told that the whole run is done, and
has not seen the fragment: it takes the fragment off the page, with all that was typed in it.
"""

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import app_session
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

_DONE = frozenset({ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY})


class MessageQueue(ForwardMsgQueue):
    """Streamlit's queue, in which a fragment's run takes back nothing of a run that is done."""

    def clear(
        self, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        """Empty the queue; before a fragment's run, only of what has come since the last end."""
        kept: list[ForwardMsg] = []
        if retain_lifecycle_msgs and fragment_ids_this_run is not None:
            ends = [number for number, msg in enumerate(self._queue, 1) if _is_end(msg)]
            count = ends[-1] if ends else 0
            kept, self._queue = self._queue[:count], self._queue[count:]
        super().clear(retain_lifecycle_msgs, fragment_ids_this_run)
        self._queue = [*kept, *self._queue]


def install() -> None:
    """Have each page's session use this queue."""
    setattr(app_session, "ForwardMsgQueue", MessageQueue)  # noqa: B010  # it is not exported


def _is_end(msg: ForwardMsg) -> bool:
    return msg.WhichOneof("type") == "script_finished" and msg.script_finished in _DONE
