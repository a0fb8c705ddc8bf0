"""The queue of messages from the server to a browser: what a finished run has drawn stays in it.

When a fragment's run begins, Streamlit 1.67 drops that fragment's messages from the queue, even if
they belong to a full run that has finished. The browser then learns that the full run is done
without having received the fragment, and removes it from the page with everything typed in it.

A value that `st.session_state` sets in a widget is sent once. If that message is dropped for a run
that follows directly, the widget would be drawn empty: a form without its stored values.
"""

from typing import Any

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

_DONE = frozenset({ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY})
_VALUE = ("set_value", "value", "raw_value", "raw_values")  # a widget has one of these


class MessageQueue(ForwardMsgQueue):
    """Streamlit's queue, in which a new run drops nothing that no later message repeats."""

    def __init__(self) -> None:
        super().__init__()
        self._unseen: dict[str, Any] = {}  # widgets whose values were dropped, by id

    def enqueue(self, msg: ForwardMsg) -> None:
        """Add a message; a widget's message also gets its value, if that was dropped before."""
        if (widget := _widget(msg)) is not None:
            place = self._delta_index_map.get(tuple(msg.metadata.delta_path))
            if place is not None:
                self._drop(self._queue[place])
            unseen = self._unseen.pop(widget.id, None)
            if unseen is not None and not widget.set_value:
                _copy_value(unseen, widget)
        super().enqueue(msg)
        if _is_end(msg) and msg.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            self._unseen.clear()  # widgets that the full page no longer draws

    def clear(
        self, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        """Empty the queue; before a fragment's run, drop only messages after the last run's end."""
        waiting, kept = self._queue, list[ForwardMsg]()
        if retain_lifecycle_msgs and fragment_ids_this_run is not None:
            ends = [number for number, msg in enumerate(self._queue, 1) if _is_end(msg)]
            count = ends[-1] if ends else 0
            kept, self._queue = self._queue[:count], self._queue[count:]
        super().clear(retain_lifecycle_msgs, fragment_ids_this_run)
        self._queue = [*kept, *self._queue]
        if retain_lifecycle_msgs:  # otherwise the messages were sent
            queued = {id(msg) for msg in self._queue}
            for msg in waiting:
                if id(msg) not in queued:
                    self._drop(msg)

    def _drop(self, msg: ForwardMsg) -> None:
        widget = _widget(msg)
        if widget is not None and widget.set_value:
            self._unseen[widget.id] = widget


def _is_end(msg: ForwardMsg) -> bool:
    return msg.WhichOneof("type") == "script_finished" and msg.script_finished in _DONE


def _widget(msg: ForwardMsg) -> Any:
    """Return the widget that a message draws; None if it draws none."""
    if msg.WhichOneof("type") != "delta" or msg.delta.WhichOneof("type") != "new_element":
        return None
    kind = msg.delta.new_element.WhichOneof("type")
    element = getattr(msg.delta.new_element, kind) if kind else None
    return element if hasattr(element, "set_value") else None


def _copy_value(old: Any, new: Any) -> None:
    """Copy the value from an earlier message of the same widget."""
    rest = type(old)()
    rest.CopyFrom(old)
    for field in old.DESCRIPTOR.fields:
        (new if field.name in _VALUE else rest).ClearField(field.name)
    new.MergeFrom(rest)
