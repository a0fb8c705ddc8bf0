"""What was written into the host, kept beside it: each file's text as generated, and its hash."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from colloquy_kit.generate.errors import Refused

RECORD = "colloquy.lock"
FORMAT = 1
Schema = dict[str, dict[str, str]]  # by table: each column and index as Alembic writes it


@dataclass(frozen=True)
class Record:
    """The last run. Its texts are what edits are merged against."""

    files: Mapping[str, str] = field(default_factory=dict)
    schema: Schema = field(default_factory=dict)
    revisions: Mapping[str, str] = field(default_factory=dict)  # id: path


def fingerprint(text: str) -> str:
    """Return the hash of a file's text, whatever its line endings."""
    return hashlib.sha256(text.encode()).hexdigest()


def dump_record(record: Record) -> str:
    """Return the record as JSON in which each line of a file is a line, for reviews."""
    files = {
        path: {"sha256": fingerprint(text), "text": text.splitlines(keepends=True)}
        for path, text in record.files.items()
    }
    value = {
        "about": "Written by `colloquy generate`. Keep it in version control; do not edit it.",
        "format": FORMAT,
        "files": files,
        "schema": record.schema,
        "revisions": dict(record.revisions),
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def load_record(text: str) -> Record:
    """Return the record. Raise Refused if it was edited, or is of a newer kit."""
    damaged = Refused(f"{RECORD} is damaged; restore it from version control.")
    try:
        value: Any = json.loads(text)
        if value["format"] != FORMAT:
            raise Refused(f"{RECORD} was written by a newer colloquy-kit; upgrade it here too.")
        files = {path: "".join(one["text"]) for path, one in value["files"].items()}
        intact = all(
            fingerprint(files[path]) == one["sha256"] for path, one in value["files"].items()
        )
        record = Record(files, value["schema"], value["revisions"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged from error
    if not intact:
        raise damaged
    return record
