"""A domain being edited: what was typed and not saved yet, shared by all views.

The draft is authoritative and widgets show it: leaving a view loses nothing, and each view shows
the edits of the other. A widget's value enters the draft in the run that the edit causes.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from backend.schemas.domains.configuration import Fault
from backend.schemas.domains.dry_runs import FirstRequest
from backend.schemas.domains.servers import ServersReport
from backend.types import JSON
from ui.features.domains.form import body as bodies
from ui.features.domains.form.body import Path
from ui.shared.text import yaml_text

NOT_FIELDS = "Enter the fields of a domain, as name: value."
_FORMS = "domain-forms"

Write = Callable[[Any], None]


@dataclass
class _Bound:
    """A drawn widget: the value it showed, and where its new value goes."""

    shown: Any
    write: Write
    is_name: bool = False


@dataclass(eq=False)
class Draft:
    """A domain as edited, in `body`, and as it was at the `version` being edited.

    `text` is the YAML as typed, `unread` why it cannot be read. `rows` counts the moves of list
    rows, because widgets are keyed by their places. `faults` are shown at the fields; `said` are
    those that a field has shown in this run.
    """

    name: str
    version: int
    before: JSON
    body: JSON
    rows: int = 0
    text: str | None = None
    unread: Fault | None = None
    unread_line: int | None = None
    was_sent: bool = False
    section: str | None = None
    faults: list[Fault] = field(default_factory=list)
    warnings: list[Fault] = field(default_factory=list)
    said: list[Fault] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)
    seen_tools: list[str] | None = None
    sources: str | None = None
    question: str | None = None
    servers: tuple[Any, ServersReport] | None = None
    request: tuple[Any, FirstRequest] | None = None
    _bound: dict[str, _Bound] = field(default_factory=dict)

    @property
    def changed(self) -> bool:
        """Whether there is something to save."""
        return self.unread is not None or self.body != self.before

    @property
    def text_key(self) -> str:
        """Return the key of the YAML widget, which does not depend on `rows`."""
        return f"{self.name}-yaml"

    def get(self, path: Path, default: Any = None) -> Any:
        """Return the draft's value at a path."""
        return bodies.get(self.body, path, default)

    def put(self, path: Path, value: Any) -> None:
        """Set the value at a path; None removes it."""
        self.body = bodies.put(self.body, path, value)
        self.forget_text()

    def key(self, *path: str | int) -> str:
        """Return the key of the widget at a path."""
        place = ".".join(str(part).replace(".", "..") for part in path)
        return f"{self.name}-{place}" + (f"~{self.rows}" if self.rows else "")

    def bind(self, key: str, shown: Any, write: Write, *, is_name: bool = False) -> Any:
        """Bind a widget, which is about to be drawn, to a value; `write` takes what it holds later.

        Names of entries are written last, because other fields refer to the entry by its name.
        """
        value = st.session_state.setdefault(key, shown)
        bound = self._bound[key] = _Bound(shown, write, is_name)
        self._take(key, bound)
        return value

    def absorb(self) -> None:
        """Take over the values of the widgets; called first in each run and in each callback."""
        for key, bound in sorted(self._bound.items(), key=lambda each: each[1].is_name):
            self._take(key, bound)

    def _take(self, key: str, bound: _Bound) -> None:
        if key in st.session_state and (value := st.session_state[key]) != bound.shown:
            bound.shown = value
            bound.write(value)

    def rearrange(self, path: Path, value: Any) -> None:
        """Replace a list or mapping and redraw its widgets; for callbacks."""
        self.absorb()
        self.put(path, value)
        self.redraw()

    def redraw(self) -> None:
        """Make all widgets show the draft again, after a change that was not made in them."""
        self.rows += 1
        self._bound.clear()
        self.refused.clear()
        self.forget_text()

    def rebase(self, version: int, stored: JSON) -> None:
        """Continue from a newer version: fields changed here stay, the others become as stored."""
        self.absorb()
        kept = {name: self.body.get(name) for name in bodies.changed_fields(self.before, self.body)}
        merged = {**{n: v for n, v in stored.items() if n not in kept}, **kept}
        self.body = {name: value for name, value in merged.items() if value is not None}
        self.version, self.before = version, dict(stored)
        self.redraw()

    def yaml(self) -> str:
        """Return the draft as text: as typed, with comments, as long as it says the same."""
        if self.text is None:
            self.text = yaml_text.write(bodies.in_order(self.body))
        return self.text

    def read_yaml(self, text: str) -> None:
        """Replace the draft with the text; text that cannot be read is kept beside it."""
        self.text, self.unread, self.unread_line = text, None, None
        try:
            parsed = yaml_text.read(text)
        except yaml_text.Unreadable as error:
            self.unread, self.unread_line = Fault(path=[], message=str(error)), error.line
            return
        if not isinstance(parsed or {}, dict):
            self.unread = Fault(path=[], message=NOT_FIELDS)
            return
        self.body = parsed or {}
        self.rows += 1
        self._bound = {k: b for k, b in self._bound.items() if k == self.text_key}

    def keep_question(self, text: str) -> None:
        """Keep the sample question of the dry run."""
        self.question = text

    def forget_text(self) -> None:
        """Have the YAML generated again from the form."""
        self.text = self.unread = None
        st.session_state.pop(self.text_key, None)


def open_draft(name: str, version: int, stored: JSON) -> Draft:
    """Return the draft as it was left, else a new one of the stored domain."""
    draft = find_draft(name)
    if draft is None or (draft.version != version and not draft.changed):
        close_draft(name)
        draft = _drafts()[name] = Draft(name, version, stored, stored)
    draft.said = []
    return draft


def find_draft(name: str) -> Draft | None:
    """Return the draft as it was left, if there is one."""
    draft = _drafts().get(name)
    if draft is not None:
        draft.absorb()
    return draft


def close_draft(name: str) -> None:
    """Forget what was typed, because it is saved or discarded."""
    _drafts().pop(name, None)
    for key in [key for key in st.session_state if str(key).startswith(f"{name}-")]:
        del st.session_state[key]


def _drafts() -> dict[str, Draft]:
    drafts: dict[str, Draft] = st.session_state.setdefault(_FORMS, {})
    return drafts
