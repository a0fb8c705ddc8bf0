"""Writes the threads of LangGraph's PostgresSaver into a file, which is then imported as an upload.

Its library reads them, in a process of its own, because it makes objects from what others wrote.
Only JSON and msgpack are read, with the types that LangGraph calls safe.
"""

import hashlib
import json
import os
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from backend.imports.errors import ImportRefused
from backend.types import JSON

HEAD = '{"langgraph_threads": 1}'  # the first line of the file
_MOST_MEMORY = 4 << 30
_LARGEST_FILE = 4 << 30
_INTERNAL = ("__", "branch:")  # channels of LangGraph itself
_FIELDS = ("id", "type", "role", "name", "content", "tool_calls", "tool_call_id", "status")
# Kept from the environment: what Python and connections need, and no secrets.
_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PGSSLROOTCERT", "PGSSLMODE", "PGPASSFILE")


def dump(url: str, path: Path) -> None:
    """Write the threads of the database at `url` to `path`. Raise ImportRefused."""
    environment = {key: os.environ[key] for key in _KEPT if key in os.environ}
    done = subprocess.run(  # noqa: S603  # this module
        [sys.executable, "-m", "backend.imports.langgraph_dump", str(path.absolute())],
        input=url.encode(),
        stderr=subprocess.PIPE,
        env=environment | {"LANGGRAPH_STRICT_MSGPACK": "true"},
        cwd=Path(__file__).parents[2],
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reason = said[-1][:500] if said else f"its reader ended with {done.returncode}"
        raise ImportRefused(f"The checkpoints cannot be read: {reason}")


class _Refused(Exception):
    """A thread cannot be read; the text is a sentence."""


def _main(path: Path) -> str | None:
    """Write the file; return what went wrong."""
    with suppress(ValueError, OSError):  # the operator's own limit is lower
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    scheme, colon, rest = sys.stdin.read().strip().partition("://")
    url = scheme.partition("+")[0] + colon + rest  # SQLAlchemy names a driver there
    try:
        import psycopg
        from langgraph.checkpoint.postgres import PostgresSaver
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
        from psycopg.rows import dict_row
    except ImportError as error:
        return f"{error.name} is not installed; requirements.txt has it."
    serde = JsonPlusSerializer(
        pickle_fallback=False, allowed_json_modules=None, allowed_msgpack_modules=None
    )
    try:
        connection = psycopg.connect(
            url, autocommit=True, prepare_threshold=0, row_factory=dict_row, connect_timeout=20
        )
        with connection, path.open("w", encoding="utf-8") as file:
            connection.execute("SET default_transaction_read_only = on")
            saver = PostgresSaver(connection, serde=serde)
            file.write(f"{HEAD}\n")
            for key in _thread_ids(connection):
                thread = _Thread(connection, saver, key).read()
                file.write(json.dumps(thread, default=str) + "\n")
    except psycopg.ProgrammingError as error:
        if error.diag.sqlstate is None:  # its text quotes the address
            return "the address is none of PostgreSQL, such as postgresql://user@host/database."
        return str(error).strip().partition("\n")[0]
    except psycopg.Error as error:
        return str(error).strip().partition("\n")[0]
    return None


def _thread_ids(connection: Any) -> list[str]:
    rows = connection.execute(
        "SELECT thread_id FROM checkpoints GROUP BY thread_id ORDER BY min(checkpoint_id)"
    )
    return [row["thread_id"] for row in rows]


class _Thread:
    """One thread: its checkpoints, each with the messages that its parent lacks."""

    def __init__(self, connection: Any, saver: Any, key: str) -> None:
        self._connection = connection
        self._saver = saver
        self._key = key
        self._channel = ""

    def read(self) -> JSON:
        """Return the thread, or why it cannot be read."""
        thread: JSON = {"thread_id": self._key}
        try:
            rows = self._connection.execute(
                "SELECT checkpoint_id AS id, parent_checkpoint_id AS parent,"
                " checkpoint ->> 'ts' AS at, checkpoint -> 'channel_versions' AS versions"
                " FROM checkpoints"
                " WHERE thread_id = %s AND checkpoint_ns = '' ORDER BY checkpoint_id",
                (self._key,),
            ).fetchall()
            thread["inside"] = self._count_inside()
            thread["others"] = self._find_channel(rows)
            thread["checkpoints"] = list(self._checkpoints(rows))
        except _Refused as error:
            thread["error"] = str(error)
        except NotImplementedError:  # what LangGraph raises for a serialisation it may not read
            thread["error"] = "Its state is neither JSON nor msgpack, but pickled or encrypted."
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            thread["error"] = f"LangGraph's library cannot read its state ({type(error).__name__})."
        return thread

    def _count_inside(self) -> int:
        row = self._connection.execute(
            "SELECT count(DISTINCT checkpoint_ns) AS number FROM checkpoints"
            " WHERE thread_id = %s AND checkpoint_ns <> ''",
            (self._key,),
        ).fetchone()
        return int(row["number"])

    def _find_channel(self, rows: list[JSON]) -> list[str]:
        """Find the channel of the messages; return the names of others that have some."""
        if not rows:
            raise _Refused("It has checkpoints of graphs inside of it only.")
        loaded = self._load(rows[-1]["id"])
        names = [name for name in rows[-1]["versions"] or {} if not name.startswith(_INTERNAL)]
        found = [name for name in names if self._messages_of(loaded, name)]
        if not found:
            raise _Refused("Its state has no messages.")
        self._channel = "messages" if "messages" in found else found[0]
        return [name for name in found if name != self._channel]

    def _checkpoints(self, rows: list[JSON]) -> Iterator[JSON]:
        children = Counter(row["parent"] for row in rows)
        versions = {row["id"]: (row["versions"] or {}).get(self._channel) for row in rows}
        known: dict[str, dict[str, str]] = {}  # the messages of each, by id, as digests
        for row in rows:
            key, parent = row["id"], row["parent"]
            above = known.get(parent)
            children[parent] -= 1
            if not children[parent]:
                known.pop(parent, None)
            added: list[JSON] = []
            if above is None or versions[key] != versions.get(parent):
                known[key], added = _compare(
                    self._messages_of(self._load(key), self._channel), above or {}
                )
            else:
                known[key] = above
            yield {"id": key, "parent": parent, "at": row["at"], "added": added}
            if not children[key]:
                written = self._written(key)
                _, added = _compare(written, known.pop(key))
                if added:
                    yield {
                        "id": f"{key}+",
                        "parent": key,
                        "at": row["at"],
                        "added": added,
                        "late": 1,
                    }

    def _load(self, key: str) -> Any:
        place = {"thread_id": self._key, "checkpoint_ns": "", "checkpoint_id": key}
        loaded = self._saver.get_tuple({"configurable": place})
        if loaded is None:
            raise _Refused("It was changed while it was read.")
        return loaded

    def _messages_of(self, loaded: Any, channel: str) -> list[JSON]:
        """Return a channel's messages; of one that keeps deltas, what was written on the way."""
        value = loaded.checkpoint["channel_values"].get(channel)
        if isinstance(value, list):
            return _messages(value)
        inside = getattr(value, "value", None)  # a snapshot among the deltas
        if inside is None and value is not None and value is not True:
            return []
        history = self._saver.get_delta_channel_history(config=loaded.config, channels=[channel])
        seed = history[channel].get("seed")
        written = [value for _, _, value in history[channel]["writes"]]
        return [
            message
            for one in (getattr(seed, "value", seed), *written, inside)
            for message in _messages(one)
        ]

    def _written(self, key: str) -> list[JSON]:
        """Return what an interrupted run wrote after its last checkpoint."""
        writes = self._load(key).pending_writes or []
        found = [_messages(value) for _, channel, value in writes if channel == self._channel]
        return [message for messages in found for message in messages if message.get("id")]


def _compare(messages: list[JSON], above: dict[str, str]) -> tuple[dict[str, str], list[JSON]]:
    """Return the digests of the messages, and those that are new or changed since `above`."""
    known = dict(above)  # what a later checkpoint dropped is still known below it
    added: list[JSON] = []
    for place, message in enumerate(messages):
        text = json.dumps(message, default=str, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()
        key = message.get("id") or f"{place}-{digest[:16]}"
        if known.get(key) != digest:
            known[key] = digest
            added.append(message | {"id": key})
    return known, added


def _messages(value: Any) -> list[JSON]:
    """Return the messages of a list, or a single one, as plain objects; nothing for all else."""
    found = []
    for one in value if isinstance(value, list | tuple) else [value]:
        fields = one if isinstance(one, dict) else getattr(one, "__dict__", {})
        kind = fields.get("type") or fields.get("role")
        if not isinstance(kind, str) or "content" not in fields or kind == "remove":
            continue
        more = fields.get("additional_kwargs") or {}
        about = fields.get("response_metadata") or {}
        message = {name: fields[name] for name in _FIELDS if fields.get(name)}
        message["thinking"] = more.get("reasoning_content")
        message["model"] = about.get("model_name") or about.get("model")
        message["is_summary"] = more.get("lc_source") == "summarization"
        found.append(message)
    return found


if __name__ == "__main__":
    sys.exit(_main(Path(sys.argv[1])))
