"""Recording what a model was sent, by reference: most of it is in the agent state. Pure.

A record is `{"d": digest, "f": frame, "m": messages, "a": began, "s": seconds}`. The frame is the
request without its messages: model, tools, settings. The messages are names joined by commas:
`0-57` are those at these places of the state at the record's version, `#k3v...` is a content.
Contents, including frames, are stored once per conversation as JSON text, under their hash. `k`
names the provider where messages carry provider-specific fields, see `backend.llm.wire.kept`. A
call that did not ask for an answer also has its purpose `p` and its usage, `u` and `c`; a failed
one has `e`.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import orjson

from backend.llm.events import ANSWER, ModelCall
from backend.llm.wire.kept import FIELDS, FOR, KEPT
from backend.types import JSON

MESSAGES = "messages"
CONTENT = "#"
HASH_BYTES = 9
DIGEST_BYTES = 6  # guards against errors, not attacks

Convert = Callable[[Sequence[JSON], str], list[JSON]]


@dataclass
class RequestRecords:
    """The records of a step's model calls, and the contents that they name."""

    calls: list[JSON] = field(default_factory=list)
    contents: dict[str, str] = field(default_factory=dict)

    def add(self, call: ModelCall, read: Sequence[JSON | None], state: Sequence[JSON]) -> None:
        """Record one call; `read` maps each sent message to its message of the state, if any."""
        sent = call.payload[MESSAGES]
        places = {id(message): place for place, message in enumerate(state)}
        names: list[int | str] = []
        for known, message in zip(read, sent, strict=True):
            place = None if known is None else places.get(id(known))
            is_same = place is not None and _says_the_same(state[place], message, call.provider)
            names.append(place if place is not None and is_same else self._keep(message))
        record = {
            "d": digest_of(call.payload),
            "f": self._keep({**call.payload, MESSAGES: None}),
            "m": write_names(names),
            "a": int(call.began),
        }
        if any(_is_kept_for(state[name], call.provider) for name in names if type(name) is int):
            record["k"] = call.provider
        self.calls.append(record | _ending(call))

    def _keep(self, content: JSON) -> str:
        text = _write(content)
        name = _hash(text.encode(), HASH_BYTES)
        self.contents[name] = text
        return name


def write_names(names: Sequence[int | str]) -> str:
    """Write places and contents as one text; consecutive places become a range."""
    parts: list[str] = []
    first = last = -2
    for name in names:
        if isinstance(name, str):
            parts.append(f"{CONTENT}{name}")
            first = last = -2
        elif name == last + 1:
            last = name
            parts[-1] = f"{first}-{last}"
        else:
            first = last = name
            parts.append(str(name))
    return ",".join(parts)


def read_names(text: str) -> Iterator[int | str]:
    """Yield the places and contents that `write_names` wrote."""
    for part in text.split(",") if text else ():
        if part.startswith(CONTENT):
            yield part.removeprefix(CONTENT)
        else:
            first, _, last = part.partition("-")
            yield from range(int(first), int(last or first) + 1)


def content_hashes(record: JSON) -> list[str]:
    """Return the contents that a record names, including its frame."""
    return [record["f"], *(name for name in read_names(record["m"]) if isinstance(name, str))]


def restore_request(
    record: JSON, state: Sequence[JSON], contents: Mapping[str, str], convert: Convert
) -> tuple[JSON, bool]:
    """Return the request that a record describes, and whether its digest matches.

    `state` are the messages at the record's version; `convert` turns such messages into what a
    provider is sent.
    Raise LookupError when something it names is missing.
    """
    names = list(read_names(record["m"]))
    wanted = [state[name] for name in names if isinstance(name, int)]
    converted = iter(convert(wanted, record.get("k", "")))
    messages = [
        next(converted) if isinstance(name, int) else json.loads(contents[name]) for name in names
    ]
    payload = {**json.loads(contents[record["f"]]), MESSAGES: messages}
    return payload, digest_of(payload) == record["d"]


def digest_of(payload: JSON) -> str:
    """Return a digest that ignores the order of keys, which JSONB does not keep."""
    try:
        text = orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # numbers beyond 64 bits, lone surrogates
        text = json.dumps(payload, sort_keys=True).encode()
    return _hash(text, DIGEST_BYTES)


def _ending(call: ModelCall) -> JSON:
    """Return the call's duration, failure, and usage if no message of the state has it."""
    record: JSON = {"s": round(call.seconds, 1)} if call.seconds is not None else {}
    if call.failure:
        record["e"] = call.failure
    if call.purpose != ANSWER:
        record["p"] = call.purpose
        if call.used:
            record["u"] = [call.used["input_tokens"], call.used["output_tokens"]]
        if call.cost:
            record["c"] = call.cost
    return record


def _says_the_same(stored: JSON, sent: JSON, provider: str) -> bool:
    """Return whether a state message says what was sent, also in its provider's own form."""
    content = sent.get("content")
    if isinstance(content, str | None) and (content or "") == (stored.get("content") or ""):
        return True
    if _is_kept_for(stored, provider):
        return bool(content == _kept_of(stored).get(FIELDS, {}).get("content"))
    return isinstance(content, list) and isinstance(stored.get("content"), list)


def _kept_of(stored: JSON) -> JSON:
    return (stored.get("additional_kwargs") or {}).get(KEPT) or {}


def _is_kept_for(stored: JSON, provider: str) -> bool:
    return bool(provider) and _kept_of(stored).get(FOR) == provider


def _write(content: JSON) -> str:
    """Write as JSON text, because JSONB would reorder keys; any text in it can be stored."""
    try:
        return orjson.dumps(content).decode()
    except TypeError:
        return json.dumps(content)


def _hash(text: bytes, size: int) -> str:
    return urlsafe_b64encode(blake2b(text, digest_size=size).digest()).decode()
