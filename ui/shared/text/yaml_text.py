"""Configuration as text that people read and write: YAML, of which JSON is a part. Pure."""

import json
from typing import Any

import yaml

from backend.schemas.bounds import refuse_unfit

Value = Any
MAX_CHARS = 200_000


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Takes no aliases: a few lines of them unfold to any size, and JSON has none."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            reason = f"the alias *{event.anchor} is not taken; write out what it stands for"
            raise yaml.composer.ComposerError(None, None, reason, event.start_mark)
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    """Writes texts of several lines as blocks, and lists with an indentation."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write(value: Value) -> str:
    """Return the value as YAML; nothing for what is empty."""
    if value is None or value in ([], {}):
        return ""
    written: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return written


def read(text: str) -> Value:
    """Return the value that a text says; None for an empty one.

    Raise ValueError with a sentence that says where it cannot be read.
    """
    if len(text) > MAX_CHARS:
        raise ValueError(
            f"This cannot be read: it has {len(text):,} characters, and {MAX_CHARS:,} are the most."
        )
    try:
        value = _plain(yaml.load(text, _Loader))  # noqa: S506  # a SafeLoader
        refuse_unfit(value)
        json.dumps(value, ensure_ascii=False).encode()  # an unpaired surrogate could not be sent
        return value
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", None) or "it is not YAML"
        raise ValueError(f"This cannot be read{where}: {reason}.") from None
    except (RecursionError, ValueError):
        raise ValueError(
            "This cannot be read: it is nested too deeply, or no plain data."
        ) from None


def _plain(value: Value) -> Value:
    """Only what JSON knows: YAML reads dates and others where people mean texts."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
