"""Each tool that agents have: another's thing is to it as one that does not exist."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from langchain_core.tools import BaseTool

from backend.auth.callers import scope_of
from backend.auth.scope import Scope
from backend.errors.base import AppError
from backend.files.origins import finder
from backend.tools.context import ToolContext
from backend.tools.registry import TOOLS, build_tools
from backend.tools.session_files import SessionFiles
from backend.types import JSON
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow
from db.models.file import FileRow
from tests.integration.people.matrix.installation import Installation, installation
from tests.integration.people.matrix.things import Things
from tests.stack import Servers

# What each tool is asked for; `{name}` stands for another's thing, then for one that is not there.
CALLS: dict[str, list[JSON]] = {
    "describe_source": [{"source": "{source}"}],
    "query_source": [
        {"source": "{source}", "sql": "SELECT 1"},
        {"source": "fi", "sql": "SELECT * FROM {source}.data"},
    ],
    "compare_sources": [
        {"left": "{source}.data", "right": "fi.totals", "keys": ["a"], "measure": "b"}
    ],
    "make_chart": [
        {"title": "T", "source": "{source}", "sql": "SELECT 1"},
        {"title": "T", "artifact_id": "{artifact_id}"},
    ],
    "read_document": [{"source": "{source}"}],
    "search_document": [{"words": "a", "source": "{source}"}],
    "make_artifact": [
        {"title": "T", "kind": "table", "source": "{source}", "query": "SELECT 1"},
        {"title": "T", "kind": "chart", "content": {"mark": "bar"}, "data_id": "{artifact_id}"},
    ],
    "read_artifact": [
        {"artifact_id": "{artifact_id}"},
        {"artifact_id": "artifact:{artifact_id}@1"},
    ],
    "revise_artifact": [{"artifact_id": "{artifact_id}", "content": "Mine now"}],
    "keep_file": [
        {"file": "{source}"},
        {"file": "{file}"},
        {"call": "{call}"},
        {"file": "{file}", "artifact_id": "{artifact_id}"},
    ],
}
NAMES_NOTHING = {"list_sources", "get_budget"}  # of anybody


@pytest.fixture(scope="module")
def place(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    redis_url = servers.new_redis()
    folder = tmp_path_factory.mktemp("tools")
    with installation(servers.new_database(), redis_url, folder) as running:
        yield running
    servers.stop_redis(redis_url)


def tools_of(place: Installation, things: Things) -> dict[str, BaseTool]:
    """The tools of a turn of the member, in a session."""
    services, session_id = place.services, UUID(things.session_id)
    with services.database.read() as session:
        scope = scope_of(session, "member")

    def find_scope() -> Scope:
        return scope

    context = ToolContext(
        sources=place.client.app.state.sources.beside(  # type: ignore[attr-defined]
            finder(services.database, services.files, find_scope, session_id)
        ),
        conversation_id=session_id,
        turn_id=UUID(things.turn_id),
        scope=scope,
        artifacts=services.artifacts,
        session_files=SessionFiles(services.database, services.files, find_scope, session_id),
        makes_artifacts=True,
        has_documents=True,
    )
    return {tool.name: tool for tool in build_tools(None, context)}


def test_each_tool_is_asked_here() -> None:
    assert CALLS.keys() | NAMES_NOTHING == TOOLS.keys()


@pytest.mark.parametrize(
    ("name", "arguments"), [(n, a) for n, calls in CALLS.items() for a in calls]
)
def test_a_tool_knows_nothing_of_what_is_anothers(
    place: Installation, name: str, arguments: JSON
) -> None:
    own, others = place.looked_at("own", "member"), place.looked_at("another's", "member")
    names = named(place, others)
    missing = {key: of_none(name) for key, name in names.items()}
    tool = tools_of(place, own)[name]

    def call(values: dict[str, str]) -> str:
        request = {"type": "tool_call", "id": "c", "name": name, "args": filled(arguments, values)}
        try:
            said = str(place.client.portal.call(tool.ainvoke, request))  # type: ignore[union-attr]
        except AppError as error:
            said = str(error)  # so the model is told
        for value in sorted(values.values(), key=len, reverse=True):
            said = said.replace(value, "…")
        return said

    assert call(names) == call(missing)


def test_sources_that_are_listed_are_not_anothers(place: Installation) -> None:
    own, others = place.things("own", "member"), place.things("another's", "member")
    request = {"type": "tool_call", "id": "c", "name": "list_sources", "args": {}}

    tool = tools_of(place, own)["list_sources"]
    said = str(place.client.portal.call(tool.ainvoke, request))  # type: ignore[union-attr]

    assert named(place, own)["source"] in said
    assert named(place, others)["source"] not in said


@pytest.mark.parametrize("form", ["html", "md", "pdf"])
def test_a_document_draws_nothing_of_another(place: Installation, form: str) -> None:
    own, others = place.things("own", "member"), place.things("another's", "member")

    def document(chart_id: str) -> bytes:
        with place.services.database.transaction() as session:
            content = f"# Ours\n\n![A chart](artifact:{chart_id}@1)\n".encode()
            row = session.get_one(ArtifactVersionRow, (UUID(own.artifact_id), 1))
            row.content, row.size = content, len(content)
        operation = "GET /artifacts/{artifact_id}/versions/{version}/download"
        answer = place.ask(operation, place.tokens["member"], vars(own), None, {"format": form})
        assert answer.status_code == 200, answer.text
        return answer.content.replace(chart_id.encode(), b"x")

    with place.services.database.transaction() as session:
        session.get_one(ArtifactRow, UUID(others.artifact_id)).kind = "chart"

    if form == "pdf":
        assert len(document(others.artifact_id)) == len(document(str(uuid4())))
    else:
        assert document(others.artifact_id) == document(str(uuid4()))


def named(place: Installation, things: Things) -> dict[str, str]:
    """How a tool may name what a session holds."""
    with place.services.database.read() as session:
        file = session.get_one(FileRow, UUID(things.file_id))
        return {
            "artifact_id": things.artifact_id,
            "source": file.source,
            "file": file.name,
            "call": things.result_id,
        }


def of_none(name: str) -> str:
    """Return a name like this one, that of nothing."""
    parts = re.split(r"([0-9a-f]{6,8}(?![0-9a-f]))", name, maxsplit=1)
    return parts[0] + uuid4().hex[: len(parts[1])] + parts[2]


def filled(arguments: JSON, values: dict[str, str]) -> JSON:
    def fill(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        for name, given in values.items():
            value = value.replace(f"{{{name}}}", given)
        return value

    return {key: fill(value) for key, value in arguments.items()}
