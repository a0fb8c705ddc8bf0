"""Configuration as text that people read and write: YAML, a superset of JSON. Pure."""

import json
import re
from collections.abc import Sequence
from typing import Any

import yaml

from backend.schemas.bounds import refuse_unfit

Value = Any
MAX_CHARS = 200_000
# The parser's reasons, which name its tokens, in the words of somebody who writes the text.
_REASONS = (
    (r"expected <block end>", "its indentation does not fit the lines above"),
    (r"mapping values are not allowed", "a text with a colon needs quotes, or its indentation does"
     " not fit the lines above"),
    (r"could not find expected ':'", "a name is not followed by a colon, or a text of several lines"
     " is not indented"),
    (r"character '\\t'", "a tab cannot indent; use spaces"),
    (r"character '(.)' that cannot start", "a text that begins with {0} needs quotes"),
    (r"expected ',' or '(.)'", "a bracket is not closed with {0}"),
    (r"unexpected end of stream", "a quotation mark is not closed"),
    (r"for the tag", "tags, which begin with an exclamation mark, are not supported"),
)  # fmt: skip


_MERGE, _TEXT = "tag:yaml.org,2002:merge", "tag:yaml.org,2002:str"


class Unreadable(ValueError):
    """The text is not YAML; the message says where and why, `line` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Rejects aliases: a few lines of them expand to any size, and JSON has none.

    Also rejects duplicate keys: PyYAML would keep the last and drop the values of the others. A key
    is a text as it is written: YAML reads `on` as true, and a number anew.
    """

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            reason = f"the alias *{event.anchor} is not supported; write out its value"
            raise yaml.composer.ComposerError(None, None, reason, event.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    reason = f"{key.value} appears twice; remove one of them"
                    raise yaml.constructor.ConstructorError(None, None, reason, key.start_mark)
                seen.add(key.value)
                key.tag = key.tag if key.tag == _MERGE else _TEXT
        return super().construct_mapping(node, deep)


# People mean a moment as text, as it is written; JSON has neither sets nor bytes.
_Loader.add_constructor("tag:yaml.org,2002:timestamp", yaml.SafeLoader.construct_yaml_str)
for _kind in ("binary", "omap", "pairs", "set"):
    del _Loader.yaml_constructors[f"tag:yaml.org,2002:{_kind}"]


class _Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
    """Writes texts of several lines as blocks, and lists with an indentation."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def write(value: Value) -> str:
    """Return the value as YAML; an empty text for an empty value."""
    if value is None or value in ([], {}):
        return ""
    written: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return written


def read(text: str) -> Value:
    """Return the value of a YAML text; None for an empty one.

    Raise Unreadable with a sentence that says where the error is.
    """
    if len(text) > MAX_CHARS:
        raise Unreadable(
            f"This cannot be read: it has {len(text):,} characters; the maximum is {MAX_CHARS:,}."
        )
    try:
        value = _plain(yaml.load(text, _Loader))  # noqa: S506  # a SafeLoader
        refuse_unfit(value)
        json.dumps(value, ensure_ascii=False).encode()  # an unpaired surrogate could not be sent
        return value
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        where = f" in line {line}" if line else ""
        raise Unreadable(f"This cannot be read{where}: {_reason(error)}.", line) from None
    except (RecursionError, ValueError):
        raise Unreadable(
            "This cannot be read: it is nested too deeply, or not plain data."
        ) from None


def _reason(error: yaml.YAMLError) -> str:
    problem = getattr(error, "problem", None) or "it is not valid YAML"
    for pattern, words in _REASONS:
        if found := re.search(pattern, problem):
            return words.format(*found.groups())
    return str(problem)


def lines_of(text: str, paths: Sequence[Sequence[str | int]]) -> list[int | None]:
    """Return the line, from 1, of each path or else of its nearest parent; None: there is neither.

    The text must be one that `read` accepts.
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
    """Return the key and value nodes for a part of a path; None if there are none."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        return None, node.value[part] if part < len(node.value) else None
    if isinstance(node, yaml.MappingNode):
        return next(((k, v) for k, v in node.value if k.value == str(part)), (None, None))
    return None, None


def _plain(value: Value) -> Value:
    """Return the value with JSON types only: YAML reads dates where people mean text."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
