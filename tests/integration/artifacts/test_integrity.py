"""The check of artifacts: each damage is found, said in a line, and mended where that can be."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.types import JSON
from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.artifacts.scenes import call, desk, made, make
from tests.stack import Servers, Stack

CHECK = ("-m", "backend.operations.integrity")
LONG = "A line.\n" * 300


@pytest.fixture(scope="module")
def desk_of_contents(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stack]:
    """A stack that keeps contents of more than 1,000 bytes in the store."""
    home = tmp_path_factory.mktemp("contents")
    with make_stack(servers, model, home, ARTIFACT_INLINE_BYTES="1000") as running:
        yield running


@pytest.fixture
def scene(desk_of_contents: Stack) -> Iterator[tuple[Stack, str, JSON, JSON]]:
    """A session with a short document of two versions, and a long one; it is deleted after."""
    stack = desk_of_contents
    session_id = desk(stack)
    short = make(stack, session_id, "document", "Short", content="One.\n")
    call(stack, session_id, "revise_artifact", artifact_id=short["artifact_id"], content="Two.\n")
    long = make(stack, session_id, "document", "Long", content=LONG)
    yield stack, session_id, short, long
    stack.client.delete(f"/sessions/{session_id}")


def check(stack: Stack, session_id: str, *arguments: str) -> tuple[int, list[str]]:
    ended, said = stack.run(*CHECK, "--session", session_id, *arguments)
    return ended, [line for line in said.splitlines() if line.startswith(("artifact ", session_id))]


def damage(stack: Stack, statement: str, named: JSON, **values: object) -> None:
    sql = f"UPDATE artifact_versions SET {statement} WHERE artifact_id = :id AND version = 1"
    stack.query_and_commit(sql, id=named["artifact_id"], **values)


def stored(stack: Stack) -> list[Path]:
    folder = Path(stack.environment["DATA_DIR"]) / "artifacts"
    return [place for place in folder.rglob("*") if place.is_file()]


def place_of(stack: Stack, named: JSON) -> Path:
    sql = "SELECT key FROM artifact_versions WHERE artifact_id = :id"
    [(key,)] = stack.query(sql, id=named["artifact_id"])
    return Path(stack.environment["DATA_DIR"]) / "artifacts" / key


def test_artifacts_as_they_should_be_are_counted(scene: tuple[Stack, str, JSON, JSON]) -> None:
    stack, session_id, *_ = scene
    ended, said = stack.run(*CHECK, "--session", session_id)

    assert ended == 0, said
    assert "3 versions of artifacts checked; hashed of 2 contents in PostgreSQL all" in said
    assert "of 1 in the store all" in said


DAMAGES: dict[str, tuple[str, str]] = {
    "content = NULL": ("short", "version 1 has no content in PostgreSQL"),
    "content = 'x'": ("short", "version 1 has 1 bytes in PostgreSQL and should have 5"),
    "content = 'One!!'": ("short", "version 1 has another content in PostgreSQL"),
    "version = 3": ("short", "its versions have a gap: 2 of 3 are there"),
    "size = 7": ("long", "version 1 has 2,400 bytes in the store and should have 7"),
    "hash = 'x'": ("long", "version 1 has another content in the store"),
    "key = 'ab/cd'": ("long", "version 1 has no content in the store"),
}


@pytest.mark.parametrize("statement", DAMAGES)
def test_a_damaged_version_is_found(scene: tuple[Stack, str, JSON, JSON], statement: str) -> None:
    stack, session_id, short, long = scene
    which, expected = DAMAGES[statement]
    named = short if which == "short" else long
    damage(stack, statement, named)

    ended, lines = check(stack, session_id, "--all-contents")

    assert ended == 1
    line = f"artifact {named['artifact_id']}: {expected}"
    found = [one for one in lines if one.startswith(line)]
    assert found and "; proposed: restore it from a backup" in found[0], lines


def test_a_wrong_newest_version_is_mended(scene: tuple[Stack, str, JSON, JSON]) -> None:
    stack, session_id, short, _ = scene
    sql = "UPDATE artifacts SET version = 5, title = 'X' WHERE id = :id"
    stack.query_and_commit(sql, id=short["artifact_id"])

    _, said = check(stack, session_id)
    ended, mended = check(stack, session_id, "--repair")

    line = f"artifact {short['artifact_id']}: it names 5 as its newest version, which is 2"
    assert said == [f"{line}; proposed: let it name the newest version that there is"]
    assert ended == 0 and mended[0].startswith(f"{line}; done")
    found = stack.client.get(f"/artifacts/{short['artifact_id']}").json()
    assert (found["version"], found["title"]) == (2, "Short")


def test_a_content_that_is_about_to_be_erased_is_kept(
    scene: tuple[Stack, str, JSON, JSON],
) -> None:
    stack, session_id, _, long = scene
    key = "/".join(place_of(stack, long).parts[-2:])
    for worker in stack.workers:  # else its sweep erases the content
        worker.terminate()
        worker.wait()
    stack.query_and_commit("INSERT INTO erased_contents (key) VALUES (:key)", key=key)
    ended, mended = check(stack, session_id, "--repair")
    listed = stack.query("SELECT 1 FROM erased_contents WHERE key = :key", key=key)
    stack.workers.clear()
    stack.start_worker()

    assert ended == 0
    assert "the content of version 1 is about to be erased; done: take the content off" in mended[0]
    assert listed == []


def test_a_message_that_names_no_version_and_an_artifact_without_any_are_found(
    scene: tuple[Stack, str, JSON, JSON],
) -> None:
    stack, session_id, short, _ = scene
    stack.query_and_commit(
        "DELETE FROM artifact_versions WHERE artifact_id = :id", id=short["artifact_id"]
    )

    ended, lines = check(stack, session_id)

    assert ended == 1
    assert any("2 messages name versions of artifacts that do not exist" in one for one in lines)
    assert any(
        one.startswith(f"artifact {short['artifact_id']}: it has no version") for one in lines
    )


def test_contents_that_no_version_names_are_counted_and_erased(
    scene: tuple[Stack, str, JSON, JSON],
) -> None:
    stack, _, _, long = scene
    folder = place_of(stack, long).parent
    strays = [folder / "stray", folder / ".half"]
    for stray in strays:
        stray.write_bytes(b"nobody's")
        os.utime(stray, (0, 0))
    _, said = stack.run(*CHECK)
    _, mended = stack.run(*CHECK, "--repair")

    line = "store of artifacts: 2 contents of 16 bytes in all that no version names"
    assert f"{line}; proposed: erase them" in said
    assert f"{line}; done: erase them" in mended
    assert [place for place in stored(stack) if place in strays] == []
    assert place_of(stack, long).is_file()
    assert made(stack, scene[1])["artifact_id"] == long["artifact_id"]
