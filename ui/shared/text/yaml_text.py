"""Configuration as text that people read and write: YAML, of which JSON is a part. Pure."""

import json
from collections.abc import Sequence
from typing import Any

import yaml

from backend.schemas.bounds import refuse_unfit

Value = Any
MAX_CHARS = 200_000


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Takes no aliases: a few lines of them unfold to any size, and JSON has none.

    And no key twice: PyYAML would take the last one and drop what stands under the others.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            reason = f"the alias *{event.anchor} is not taken; write out what it stands for"
            raise yaml.composer.ComposerError(None, None, reason, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    reason = f"{key.value} stands here twice; leave one of them out"
                    raise yaml.constructor.ConstructorError(None, None, reason, key.start_mark)
                seen.add(key.value)
        return super().construct_mapping(node, deep)


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


def lines_of(text: str, paths: Sequence[Sequence[str | int]]) -> list[int | None]:
    """Return the line, counted from 1, at which each path stands, or what holds it; None: nowhere.

    The text is one that `read` has taken.
    """
    try:
        root = yaml.compose(text, _Loader)  # a SafeLoader
    except yaml.YAMLError:
        root = None
    return [_line_of(root, path) for path in paths]


def _line_of(node: Any, path: Sequence[str | int]) -> int | None:
    line: int | None = None
    for part in path:
        key, node = _child(node, part)
        if node is None:
            return line
        line = (key or node).start_mark.line + 1
    return line


def _child(node: Any, part: str | int) -> tuple[Any, Any]:
    """Return the key and the value that stand for a part of a path; None where there is none."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return None, node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(part)), (None, None))
    return None, None


def _plain(value: Value) -> Value:
    """Only what JSON knows: YAML reads dates and others where people mean texts."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
