"""The queue of what the server has to tell a browser: what a finished run has drawn stays in it.

Where a fragment's run begins, Streamlit 1.67 drops what waits here of that fragment, also where it
is part of a whole run that has finished. The browser is then told that the whole run is done, and
has not seen the fragment: it takes the fragment off the page, with all that was typed in it.

What `st.session_state` puts into a widget is told once. Where that message is dropped for a run
that follows at once, the widget would be drawn empty: a form without what is stored.
"""

from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

_DONE = frozenset({ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY})
_VALUE = ("set_value", "value", "raw_value", "raw_values")  # whichever a widget has


class MessageQueue(ForwardMsgQueue):
    """Streamlit's queue, in which a new run takes back nothing that no later message tells."""

    def __init__(self) -> None:
        super().__init__()
        self._unseen: dict[str, Any] = {}  # widgets whose values were dropped, by their ids

    def enqueue(self, msg: ForwardMsg) -> None:
        """Add a message; one of a widget tells its value too, if that was dropped before."""
        if (widget := _widget(msg)) is not None:
            place = self._delta_index_map.get(tuple(msg.metadata.delta_path))
            if place is not None:
                self._drop(self._queue[place])
            unseen = self._unseen.pop(widget.id, None)
            if unseen is not None and not widget.set_value:
                _copy_value(unseen, widget)
        super().enqueue(msg)
        if _is_end(msg) and msg.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            self._unseen.clear()  # what the whole page has drawn no more

    def clear(
        self, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        """Empty the queue; before a fragment's run, only of what has come since the last end."""
        waiting, kept = self._queue, list[ForwardMsg]()
        if retain_lifecycle_msgs and fragment_ids_this_run is not None:
            ends = [number for number, msg in enumerate(self._queue, 1) if _is_end(msg)]
            count = ends[-1] if ends else 0
            kept, self._queue = self._queue[:count], self._queue[count:]
        super().clear(retain_lifecycle_msgs, fragment_ids_this_run)
        self._queue = [*kept, *self._queue]
        if retain_lifecycle_msgs:  # otherwise they were sent
            told = {id(msg) for msg in self._queue}
            for msg in waiting:
                if id(msg) not in told:
                    self._drop(msg)

    def _drop(self, msg: ForwardMsg) -> None:
        widget = _widget(msg)
        if widget is not None and widget.set_value:
            self._unseen[widget.id] = widget


def _is_end(msg: ForwardMsg) -> bool:
    return msg.WhichOneof("type") == "script_finished" and msg.script_finished in _DONE


def _widget(msg: ForwardMsg) -> Any:
    """Return the widget that a message draws; None for one of another kind."""
    if msg.WhichOneof("type") != "delta" or msg.delta.WhichOneof("type") != "new_element":
        return None
    kind = msg.delta.new_element.WhichOneof("type")
    element = getattr(msg.delta.new_element, kind) if kind else None
    return element if hasattr(element, "set_value") else None


def _copy_value(old: Any, new: Any) -> None:
    """Let a widget's message tell the value that one before, of the same widget, told."""
    told = type(old)()
    told.CopyFrom(old)
    for field in old.DESCRIPTOR.fields:
        (new if field.name in _VALUE else told).ClearField(field.name)
    new.MergeFrom(told)
