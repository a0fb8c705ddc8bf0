"""The command in three applications: their own checks, their databases, their servers."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import create_engine, text

from tests.fakes import ScriptedModel
from tests.integration.kit.applications import BARE, CREW, SHOP, write_application
from tests.processes import ROOT, Process, free_port, kill_process, launch
from tests.stack import PATIENCE_SECONDS, Servers

PROGRAMS = Path(sys.executable).parent
CALL = {"tools": [{"name": "price", "args": {"product": "pear"}}]}
SHOP_ANSWERS = (
    *("shop.conversations", "--scope", "shop.auth:Scope"),
    *("--owner", "shop.models:Person", "--routes", "fastapi"),
)
CREW_ANSWERS = (
    *("crew.conversations", "--scope", "crew.auth:Scope", "--owner", "crew.models:Team"),
    *("--owner-type", "team", "--table-prefix", "chat_", "--base", "crew.db:Base"),
)
BARE_ANSWERS = (
    *("bare.conversations", "--scope", "bare.auth:Scope", "--owner-type", "none"),
    *("--base", "bare.db:Database.Model"),
)
TOOLS = '''
from pathlib import Path

from langchain_core.tools import BaseTool, tool


@tool
def price(product: str) -> str:
    """Return what a product costs."""
    with Path("calls").open("a") as calls:
        calls.write(f"{product}\\n")
    return f"{product}: 2"


TOOLS: list[BaseTool] = [price]
'''


class Application:
    """One of them, its database, and its server when it runs."""

    def __init__(self, folder: Path, name: str, model: ScriptedModel, database: str) -> None:
        self.folder, self.name = folder, name
        self.environment = {
            **os.environ,
            "DATABASE_URL": database,
            "OPENAI_BASE_URL": model.url,
            "OPENAI_API_KEY": "test",
            "PYTHONPATH": os.pathsep.join((str(folder), str(folder / "src"))),
        }
        self.engine = create_engine(database)
        self.log = folder.with_suffix(".log")
        self.server: Process | None = None
        self.client = httpx.Client(timeout=60)

    def run(self, program: str, *arguments: str) -> str:
        """Run an installed program in its folder; give what it said."""
        done = subprocess.run(
            [PROGRAMS / program, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self) -> None:
        port = str(free_port())
        server = {
            "shop": ("uvicorn", "shop.main:app", "--port", port),
            "crew": ("flask", "--app", "crew.main", "run", "--port", port),
        }[self.name]
        self.server = launch(["-m", *server], self.environment, self.log, self.folder)
        self.client.base_url = httpx.URL(f"http://127.0.0.1:{port}")
        self.wait_until(self.answers)

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not is_so():
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def answers(self) -> bool:
        try:
            return self.client.get("/nothing").status_code == 404
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        assert self.server is not None
        kill_process(self.server)

    def tables(self) -> set[str]:
        with self.engine.connect() as connection:
            found = connection.execute(
                text("SELECT tablename FROM pg_tables WHERE schemaname IN ('public', 'apart')")
            )
            return set(found.scalars())


def make(
    folder: Path,
    name: str,
    files: dict[str, str],
    answers: tuple[str, ...],
    where: str,
    *more: object,
) -> Application:
    write_application(folder, files)
    application = Application(folder, name, *more)  # type: ignore[arg-type]
    application.run("colloquy", "generate", "persistence", *answers)
    package = folder / where / name
    if name == "bare":
        return application
    (package / "tools.py").write_text(TOOLS)
    factory = package / "conversations/factory.py"
    edited = factory.read_text().replace('"openai:gpt-5.2"', '"openai:scripted"')
    edited = edited.replace("TOOLS: list[BaseTool] = []\n", "")
    edited = edited.replace("from langchain_core.tools import BaseTool\n", "")
    import_line = f"\nfrom {name}.tools import TOOLS\n\nMODEL ="
    factory.write_text(edited.replace("\nMODEL =", import_line))
    return application


@pytest.fixture(scope="module")
def applications(
    servers: Servers, model: ScriptedModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Application]]:
    home = tmp_path_factory.mktemp("applications")
    made = {}
    for name, files, answers, where in (
        ("shop", SHOP, SHOP_ANSWERS, "."),
        ("crew", CREW, CREW_ANSWERS, "src"),
        ("bare", BARE, BARE_ANSWERS, "."),
    ):
        url = servers.new_database(migrated=False)
        url = url.replace("postgresql://", "postgresql+psycopg2://")
        made[name] = make(home / name, name, files, answers, where, model, url)
    yield made
    for application in made.values():
        application.client.close()
        application.engine.dispose()
        if application.server is not None:
            kill_process(application.server)


@pytest.fixture
def shop(applications: dict[str, Application]) -> Application:
    return applications["shop"]


@pytest.fixture
def crew(applications: dict[str, Application]) -> Application:
    return applications["crew"]


def test_generated_code_passes_mypy_as_strict_as_it_can_be(applications):
    shop, crew, bare = applications.values()
    paths = [str(shop.folder), str(crew.folder / "src"), str(bare.folder)]
    shop.environment["MYPYPATH"] = os.pathsep.join(paths)
    cache = ROOT / ".mypy_cache" / "hosts"
    options = ("--strict", "--follow-imports=silent", f"--cache-dir={cache}")
    tests = [one.folder / "tests/test_conversations_persistence.py" for one in (shop, crew, bare)]

    said = shop.run("mypy", *options, "-p", "shop", "-p", "crew", "-p", "bare")

    assert said.startswith("Success")
    for test in tests:
        assert shop.run("mypy", *options, str(test)).startswith("Success")


@pytest.mark.parametrize(
    ("name", "package"), [("shop", "shop"), ("crew", "src/crew"), ("bare", "bare")]
)
def test_generated_code_passes_ruff_and_its_own_tests(applications, name, package):
    application = applications[name]
    (revision,) = application.folder.glob("migrations/versions/*_create_conversations.py")
    code = (f"{package}/conversations", "tests", str(revision))
    rules = "E,W,F,I,UP,B,C4,SIM,RET,PIE,ANN,BLE,T20,RUF"

    application.run("ruff", "check", "--isolated", f"--select={rules}", "--ignore=ANN401", *code)
    application.run("ruff", "format", "--isolated", "--check", *code)
    said = application.run("pytest", "-q", "-p", "no:iam", "-p", "no:cacheprovider", "tests")

    assert " passed" in said


@pytest.mark.parametrize(
    ("name", "prefix", "theirs"),
    [("shop", "", {"people"}), ("crew", "chat_", {"teams"}), ("bare", "", set())],
)
def test_its_revision_goes_up_down_and_up_on_the_application_s_history(
    applications, name, prefix, theirs
):
    application = applications[name]
    with application.engine.begin() as connection:
        connection.execute(text("CREATE SCHEMA apart"))
    ours = {f"{prefix}{table}" for table in ("conversations", "agent_states", "display_messages")}

    application.run("alembic", "upgrade", "head")
    assert ours < application.tables()
    application.run("alembic", "downgrade", "-1")
    assert application.tables() == {"alembic_version", *theirs}
    application.run("alembic", "upgrade", "head")
    assert ours < application.tables()
    application.run("alembic", "check")  # the models say the same


@pytest.mark.parametrize("name", ["shop", "crew"])
def test_with_its_own_agent_in_it_the_next_run_changes_nothing(applications, name):
    said = applications[name].run("colloquy", "generate", "persistence", "--check")

    assert said == "Nothing to do.\n"


def test_a_turn_goes_on_where_the_killed_server_was(shop, model):
    shop.run("alembic", "upgrade", "head")
    with shop.engine.begin() as connection:
        connection.execute(text("INSERT INTO people (id, name) VALUES (1, 'Ann'), (2, 'Bob')"))
    ann, bob = ({"x-person": number} for number in "12")
    shop.start()
    client = shop.client
    made = client.post("/conversations", json={"title": "Fruit"}, headers=ann)
    assert made.status_code == 201, made.text
    path = f"/conversations/{made.json()['id']}"
    question = {"text": "What does a pear cost?"}
    model.steps = lambda messages, body: {"wait": 60} if messages[-1]["role"] == "tool" else CALL

    with ThreadPoolExecutor() as pool:
        asked = pool.submit(client.post, f"{path}/messages", json=question, headers=ann)
        shop.wait_until(lambda: len(model.requests) == 2)
        shop.kill()
        assert isinstance(asked.exception(), httpx.TransportError)

    model.steps = lambda messages, body: {"text": "It costs 2."}
    shop.start()
    streamed = client.post(f"{path}/resume", json=[], headers=ann)
    assert streamed.status_code == 200, streamed.text
    events = re.findall(r"event: (\w+)\ndata: (.*)\n", streamed.text)
    deltas = [json.loads(data)["text"] for name, data in events if name == "delta"]
    assert "".join(deltas) == "It costs 2."
    assert [name for name, _ in events if name != "delta"] == ["status", "saved", "status"]
    assert json.loads(events[-1][1])["status"] == "idle"
    rows = client.get(f"{path}/messages", headers=ann).json()
    assert [row["content_type"] for row in rows] == ["text", "tool_call", "tool_result", "text"]
    assert rows[-1]["content"]["text"] == "It costs 2."
    assert rows[1]["status"] == "completed"
    assert (shop.folder / "calls").read_text() == "pear\n"

    assert [one["title"] for one in client.get("/conversations", headers=ann).json()] == ["Fruit"]
    assert client.get("/conversations", headers=bob).json() == []
    for answer in (
        client.get(path, headers=bob),
        client.get(f"{path}/messages", headers=bob),
        client.patch(path, json={"title": "Mine"}, headers=bob),
        client.post(f"{path}/messages", json=question, headers=bob),
        client.post(f"{path}/resume", json=[], headers=bob),
        client.delete(path, headers=bob),
    ):
        assert answer.status_code == 404
    renamed = client.patch(path, json={"title": "Pears", "version": 1}, headers=ann)
    assert (renamed.status_code, renamed.json()["title"]) == (200, "Pears")
    stale = client.patch(path, json={"title": "Plums", "version": 1}, headers=ann)
    assert stale.status_code == 409
    assert client.post(f"{path}/resume", json=[], headers=ann).status_code == 409
    assert client.get("/conversations?limit=0", headers=ann).status_code == 422
    assert client.delete(path, headers=ann).status_code == 204


def test_a_team_s_conversation_outlives_its_server(crew, model):
    crew.run("alembic", "upgrade", "head")
    teams = [str(uuid4()), str(uuid4())]
    with crew.engine.begin() as connection:
        for team in teams:
            connection.execute(text("INSERT INTO teams (id) VALUES (:id)"), {"id": team})
    ours, theirs = ({"x-team": team} for team in teams)
    model.steps = [CALL, {"text": "It costs 2."}]
    crew.start()
    made = crew.client.post("/conversations", json={}, headers=ours).json()
    path = f"/conversations/{made['id']}/messages"
    first = crew.client.post(path, json={"text": "What does a pear cost?"}, headers=ours)
    assert first.status_code == 200, crew.log.read_text()

    crew.kill()
    crew.start()
    model.steps = [{"text": "Four."}]
    crew.client.post(path, json={"text": "And two?"}, headers=ours)

    said = [row["content"].get("text") for row in crew.client.get(path, headers=ours).json()]
    assert said[-3:] == ["It costs 2.", "And two?", "Four."]
    roles = [message["role"] for message in model.messages[-1]]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert crew.client.get(path, headers=theirs).status_code == 404
