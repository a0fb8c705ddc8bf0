"""Migrations only add, so that the version before may run beside them; others say so."""

import re
from collections.abc import Iterator

import pytest

from db.schema import MIGRATIONS, REVISIONS

LAST_BEFORE_THE_RULE = "0003"
VERSIONS = MIGRATIONS / "versions"
BODY = re.compile(r"\$(\w*)\$.*?\$\1\$", re.DOTALL)
COMMENT = re.compile(r"--[^\n]*")
NOT_ROLLING = re.compile(r"^ROLLING = False$", re.MULTILINE)

# What takes away or tightens something that the version before reads or writes.
TAKES_AWAY = {
    "drops": r"\bdrop (table|column|view|materialized view|function|type|sequence|schema)\b",
    "drops, in Python": r"\bop\.(drop_table|drop_column|rename_table|alter_column)\(",
    "empties": r"^\s*truncate\b",
    "renames": r"\balter .*\brename\b",
    "changes a type": r"\balter column \S+ (set data )?type\b",
    "requires a value": r"\bset not null\b",
    "adds a required column": r"\badd column (?!.*\bdefault\b).*\bnot null\b",
    "takes a right": r"^\s*revoke\b",
}
# The same, unless the table is one that this migration makes.
TIGHTENS = {
    "constrains": r"\balter table (?P<table>\S+) add (?:constraint|check|unique|foreign)\b",
    "forbids equal rows": r"\bcreate unique index .*\bon (?P<table>[\w.]+)",
    "hides rows": r"\balter table (?P<table>\S+) (?:enable|force) row level security\b",
}
MADE = re.compile(r"\bcreate (?:unlogged )?table (?:if not exists )?(\S+)")


def sources(revision: str) -> list[str]:
    """The texts of a migration: its module, and the SQL files that it executes."""
    files = [*VERSIONS.glob(f"{revision}_*.*"), *VERSIONS.glob(f"{revision}_*/*.sql")]
    return [file.read_text(encoding="utf-8") for file in files if file.is_file()]


def statements(text: str) -> Iterator[str]:
    """The statements of a text, in small letters on a line each, without bodies of functions."""
    for statement in COMMENT.sub("", BODY.sub("''", text)).split(";"):
        yield " ".join(statement.lower().split())


def breaches(texts: list[str]) -> list[str]:
    """What the version before could not live with."""
    every = [statement for text in texts for statement in statements(text)]
    made = {name.strip("(") for one in every for name in MADE.findall(one)}
    found = [
        f"{what}: {one[:80]}"
        for one in every
        for what, pattern in TAKES_AWAY.items()
        if re.search(pattern, one)
    ]
    for one in every:
        for what, pattern in TIGHTENS.items():
            tightened = re.search(pattern, one)
            if tightened and tightened["table"] not in made:
                found.append(f"{what}: {one[:80]}")
    return found


def found_in(revision: str) -> list[str]:
    texts = sources(revision)
    assert texts
    return [] if any(NOT_ROLLING.search(text) for text in texts) else breaches(texts)


def test_a_migration_only_adds_or_says_that_it_cannot_run_beside_the_version_before():
    found = {one: found_in(one) for one in REVISIONS if one > LAST_BEFORE_THE_RULE}

    assert {one: what for one, what in found.items() if what} == {}
    assert any("conversations (image_id)" in what for what in found_in(LAST_BEFORE_THE_RULE))


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE turns",
        "ALTER TABLE turns DROP COLUMN worker",
        "ALTER TABLE turns RENAME COLUMN worker TO owner",
        "ALTER TABLE turns RENAME TO works",
        "ALTER TABLE turns ALTER COLUMN number TYPE text",
        "ALTER TABLE turns\n  ALTER COLUMN worker SET NOT NULL",
        "ALTER TABLE turns ADD COLUMN place text NOT NULL",
        "ALTER TABLE turns ADD CONSTRAINT few CHECK (attempt < 9)",
        "CREATE UNIQUE INDEX once ON turns (worker)",
        "ALTER TABLE alembic_version ENABLE ROW LEVEL SECURITY",
        "REVOKE SELECT ON turns FROM colloquy_api",
        "op.drop_column('turns', 'worker')",
    ],
)
def test_what_takes_something_away_is_noticed(statement):
    assert len(breaches([f"SELECT 1; {statement};"])) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE turns ADD COLUMN place text",
        "ALTER TABLE turns ADD COLUMN place text DEFAULT '' NOT NULL",
        "ALTER TABLE turns ALTER COLUMN worker DROP NOT NULL",
        "CREATE TABLE place (id int NOT NULL); CREATE UNIQUE INDEX one ON place (id)",
        "CREATE TABLE place (id int); ALTER TABLE place ENABLE ROW LEVEL SECURITY",
        "DROP INDEX turns_by_worker; CREATE INDEX turns_by_worker ON turns (worker, number)",
        "CREATE FUNCTION f() RETURNS trigger AS $$ BEGIN DROP TABLE x; END $$ LANGUAGE plpgsql",
        "-- nothing is renamed here: ALTER TABLE turns RENAME TO works\nSELECT 1",
    ],
)
def test_what_only_adds_is_not(statement):
    assert breaches([statement]) == []
