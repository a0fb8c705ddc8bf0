"""`colloquy generate persistence` on an application's folder: refused, repeated, edited, killed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from colloquy_kit.generate.command import generate
from colloquy_kit.generate.record import RECORD, Record, dump_record, load_record
from tests.integration.kit.applications import SHOP, write_application

ANSWERS = ("--scope", "shop.auth:Scope", "--owner", "shop.models:Person")
FIRST = ("shop.conversations", *ANSWERS)
SERVICE = "shop/conversations/service.py"


class Command:
    """The command in one application's folder, in this process."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root, self._capsys = root, capsys
        self.said = ""

    def __call__(self, *arguments: str) -> int:
        code = generate(["persistence", "--project", str(self.root), *arguments])
        self.said = "".join(self._capsys.readouterr())
        for name in [name for name in sys.modules if name.split(".")[0] == "shop"]:
            del sys.modules[name]
        return code

    def read(self, path: str) -> str:
        return (self.root / path).read_text()

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def edit(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert old in text
        self.write(path, text.replace(old, new))


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(write_application(tmp_path / "shop", SHOP), capsys)


@pytest.fixture
def generated(command: Command) -> Command:
    assert command(*FIRST) == 0
    return command


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Each file with its bytes and the moment of its last change."""
    return {
        path.relative_to(root).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def contents(root: Path) -> dict[str, bytes]:
    return {name: data for name, (data, _) in tree(root).items()}


MORE_MODELS = """
class Pair(Base):
    __tablename__ = "pairs"
    a: Mapped[int] = mapped_column(primary_key=True)
    b: Mapped[int] = mapped_column(primary_key=True)


class Timed(Base):
    __tablename__ = "timed"
    at: Mapped[datetime] = mapped_column(primary_key=True)


class Other(DeclarativeBase):
    pass


class Data(MappedAsDataclass, DeclarativeBase):
    metadata = Base.metadata
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("shop.conversations",), "--scope"),
        (("shop.conversations", "--scope", "shop.auth:Scope"), "--owner"),
        ((*FIRST, "--scope", "shop.auth:Absent"), "has no class Absent"),
        ((*FIRST, "--scope", "shop.gone:Scope"), "cannot be imported"),
        ((*FIRST, "--scope", "shop.broken:Scope"), "ZeroDivisionError"),
        ((*FIRST, "--scope", "shop.models:Person"), "has no `type`"),
        ((*FIRST, "--owner", "shop.auth:Scope"), "no mapped class"),
        ((*FIRST, "--owner", "shop.models:Pair"), "2 columns"),
        ((*FIRST, "--owner", "shop.models:Timed"), "int, str or uuid"),
        ((*FIRST, "--base", "shop.models:Other"), "not built on"),
        ((*FIRST, "--base", "shop.models:Data"), "makes dataclasses"),
        ((*FIRST, "--base", "shop.auth:Scope"), "no declarative base"),
        (("store.conversations", *ANSWERS), "no package store"),
        (("json.conversations", *ANSWERS), "is not inside"),
        (("shop.auth", *ANSWERS), "is a module already"),
        (("shop.auth.conversations", *ANSWERS), "no package shop.auth"),
        ((*FIRST, "--alembic", "absent.ini"), "does not exist"),
        ((*FIRST, "--alembic", "nowhere.ini"), "cannot use nowhere.ini"),
        ((*FIRST, "--alembic", "empty.ini"), "no folder of versions"),
        ((*FIRST, "--alembic", "pyproject.toml"), "no folder of versions"),
        ((*FIRST, "--table-prefix", "x-"), "no identifier"),
        ((*FIRST, "--table-prefix", "taken_"), "choose a --table-prefix"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence_and_changes_nothing(command, arguments, said):
    command.edit("shop/models.py", "from shop.db import Base", IMPORTS)
    command.edit("shop/models.py", "name: Mapped[str]\n", "name: Mapped[str]\n\n" + MORE_MODELS)
    command.write("shop/broken.py", "1 / 0\n")
    command.write("nowhere.ini", "[alembic]\nscript_location = %(here)s/nowhere\n")
    command.write("empty.ini", "[alembic]\nscript_location = %(here)s/shop\n")
    before = tree(command.root)

    assert command(*arguments) == 2
    assert said in command.said
    assert command.said.startswith("colloquy: ")
    assert command.said.count("\n") == 1
    assert tree(command.root) == before


IMPORTS = """from datetime import datetime

from sqlalchemy.orm import DeclarativeBase, MappedAsDataclass

from shop.db import Base


class Taken(Base):
    __tablename__ = "taken_conversations"
    id: Mapped[int] = mapped_column(primary_key=True)
"""


def test_several_heads_are_refused(command):
    text = command.read("migrations/versions/a1_people.py")
    for name in ("x1", "x2"):
        branch = text.replace('"a1"', f'"{name}"').replace("None", '"a1"')
        command.write(f"migrations/versions/{name}.py", branch)

    assert command(*FIRST) == 2
    assert "several heads (x1, x2)" in command.said
    assert not (command.root / "shop/conversations").exists()


def test_a_file_that_was_not_generated_is_not_overwritten_unless_forced(command):
    command.write(SERVICE, "mine\n")
    before = tree(command.root)

    assert command(*FIRST) == 2
    assert "is in the way" in command.said
    assert tree(command.root) == before

    assert command(*FIRST, "--force") == 0
    assert "def visible_to" in command.read(SERVICE)


@pytest.mark.parametrize("folder", [".", "shop/conversations", "tests"])
def test_the_second_run_needs_no_answers_and_changes_nothing(generated, monkeypatch, folder):
    before = tree(generated.root)
    monkeypatch.chdir(generated.root / folder)

    assert generate(["persistence"]) == 0
    assert generated("--check") == 0
    assert generated(*FIRST) == 0
    assert generated.said == "Nothing to do.\n"
    assert tree(generated.root) == before


@pytest.mark.parametrize("mode", ["--dry-run", "--diff", "--check"])
def test_looking_changes_nothing(command, mode):
    before = tree(command.root)

    code = command(*FIRST, mode)

    assert code == (1 if mode == "--check" else 0)
    assert SERVICE in command.said
    assert ("+def visible_to" in command.said) == (mode == "--diff")
    assert tree(command.root) == before


def test_what_has_to_be_installed_is_said(command, monkeypatch):
    assert command(*FIRST, "--dry-run") == 0
    assert "not installed" not in command.said
    monkeypatch.setitem(sys.modules, "langchain", None)

    assert command(*FIRST) == 0
    assert "colloquy-kit[langgraph]" in command.said


def test_answers_have_a_file_beside_where_there_is_no_pyproject(command):
    (command.root / "pyproject.toml").unlink()

    assert command(*FIRST) == 0
    assert 'owner = "shop.models:Person"' in command.read("colloquy.toml")
    assert command("--check") == 0


def age(command: Command, path: str, old: str, new: str) -> None:
    """Make it so that an earlier kit had written `new` where this one writes `old`."""
    record = command.root / RECORD
    loaded = load_record(record.read_text())
    assert old in loaded.files[path]
    earlier = {**loaded.files, path: loaded.files[path].replace(old, new)}
    untouched = command.read(path) == loaded.files[path]
    record.write_text(dump_record(Record(earlier, loaded.schema, loaded.revisions)))
    if untouched:
        command.write(path, earlier[path])


DOCSTRING = '"""Return one. Raise NotFound, also for another\'s, as all functions here do."""'


def test_an_unchanged_file_is_renewed(generated):
    now = contents(generated.root)
    age(generated, SERVICE, DOCSTRING, '"""Return one."""')

    assert generated("--check") == 1
    assert generated() == 0
    assert f"renewed: {SERVICE}" in generated.said
    assert contents(generated.root) == now


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_edits_are_merged_with_what_is_new(generated, ending):
    age(generated, SERVICE, DOCSTRING, '"""Return one."""')
    generated.edit(SERVICE, "return Conversation.user_id == scope.id", "return my_rule(scope)")
    path = generated.root / SERVICE
    path.write_bytes(path.read_bytes().replace(b"\n", ending.encode()))

    assert generated() == 0
    assert f"merged: {SERVICE}" in generated.said
    text = path.read_bytes().decode()
    assert "return my_rule(scope)" in text
    assert DOCSTRING in text
    assert text.count(ending) == text.count("\n")
    assert generated("--check") == 0


def test_a_conflict_is_marked_and_said_until_a_person_has_resolved_it(generated):
    age(generated, SERVICE, DOCSTRING, '"""Return one."""')
    generated.edit(SERVICE, '"""Return one."""', '"""Mine."""')

    assert generated() == 1
    assert f"merged with 1 conflict: {SERVICE}" in generated.said
    assert "Resolve what is marked" in generated.said
    marked = generated.read(SERVICE)
    assert "<<<<<<< edited" in marked

    assert generated() == generated("--check") == 1
    assert f"still has conflicts: {SERVICE}" in generated.said
    assert generated.read(SERVICE) == marked

    head, rest = marked.split("<<<<<<< edited\n")
    mine, rest = rest.split("=======\n")
    generated.write(SERVICE, head + mine + rest.split(">>>>>>> generated\n")[1])
    assert generated() == generated("--check") == 0
    assert '"""Mine."""' in generated.read(SERVICE)


def test_force_takes_what_is_generated(generated):
    before = contents(generated.root)
    generated.edit(SERVICE, "return Conversation.user_id == scope.id", "return my_rule(scope)")

    assert generated() == 0
    assert "my_rule" in generated.read(SERVICE)
    assert generated("--force") == 0
    assert contents(generated.root) == before


def test_a_deleted_file_stays_deleted_unless_forced(generated):
    before = contents(generated.root)
    (generated.root / "tests/test_conversations_persistence.py").unlink()

    assert generated() == generated("--check") == 0
    assert "stays deleted" in generated.said
    assert not (generated.root / "tests/test_conversations_persistence.py").exists()

    assert generated("--force") == 0
    assert contents(generated.root) == before


def test_routes_come_and_go_with_the_answer(generated):
    routes = generated.root / "shop/conversations/routes.py"

    assert generated("--routes", "fastapi") == 0
    assert routes.exists()
    assert generated("--routes", "none") == 0
    assert not routes.exists()

    assert generated("--routes", "fastapi") == 0
    routes.write_text(routes.read_text() + "# mine\n")
    assert generated("--routes", "none") == 0
    assert "it stays" in generated.said
    assert routes.exists()


def test_an_answer_that_rows_depend_on_is_refused_later(generated):
    before = tree(generated.root)

    for arguments in (("--table-prefix", "b_"), ("--owner-field", "b"), ("shop.talks",)):
        assert generated(*arguments) == 2
    assert tree(generated.root) == before


def test_a_migration_by_hand_is_accepted_by_its_line(generated):
    generated.edit("pyproject.toml", 'owner-field = "user_id"', 'owner-field = "person_id"')
    before = tree(generated.root)

    assert generated() == 2
    assert "Write that migration by hand" in generated.said
    assert tree(generated.root) == before

    line = generated.said.strip().rsplit(": ", 2)[1:]
    (first,) = (generated.root / "migrations/versions").glob("*_create_conversations.py")
    revision = f'"""By hand.\n\n{": ".join(line)}\n"""\nrevision = "h1"\ndown_revision = '
    generated.write("migrations/versions/h1.py", f'{revision}"{first.name[:12]}"\n')
    assert generated() == 0
    assert "person_id: Mapped[int]" in generated.read("shop/conversations/models.py")
    assert generated("--check") == 0
    assert len(list((generated.root / "migrations/versions").glob("*.py"))) == 3


def test_a_deleted_migration_is_said_and_not_written_again(generated):
    (path,) = (generated.root / "migrations/versions").glob("*_create_conversations.py")
    path.unlink()

    assert generated() == generated("--force") == 0
    assert "is gone" in generated.said
    assert not path.exists()


READ_ONLY = """
import os, sys

from colloquy_kit.generate.command import generate

arguments = ["persistence", "--project", *sys.argv[1:]]
generate([*arguments, "--dry-run"])  # it loads what others may not read
if os.geteuid() == 0:  # root may write anywhere
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sys.exit(generate(arguments))
"""


def test_a_folder_that_cannot_be_written_changes_nothing():
    # Not one of pytest's folders, which others than root may not enter.
    with TemporaryDirectory(prefix="colloquy-") as home:
        root = write_application(Path(home) / "shop", SHOP)
        for folder in [Path(home), root, *(one for one in root.rglob("*") if one.is_dir())]:
            folder.chmod(0o777)
        (root / "migrations/versions").chmod(0o555)
        before = contents(root)

        done = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(root), *FIRST],
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(sys.path),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            check=False,
        )

        assert "is read-only" in done.stderr
        assert done.returncode == 2
        assert contents(root) == before


KILLED = """
import os, shutil, sys
from pathlib import Path

from colloquy_kit.generate.command import generate

sys.stdout = open(os.devnull, "w")


def run(root, dies_at=0):
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    renamed = 0

    def die(event, arguments):
        nonlocal renamed
        renamed += event == "os.rename"
        if renamed == dies_at:
            os._exit(9)

    if dies_at:
        sys.addaudithook(die)
    os._exit(generate(["persistence", "--project", str(root), *sys.argv[2:]]))


pristine = Path(sys.argv[1])
for number in range(1, 100):
    root = pristine.with_name(f"killed-{number}")
    shutil.copytree(pristine, root)
    code = run(root, number)
    assert run(root) == 0
    if code == 0:
        break
    assert code == 9, code
print(number - 1, file=sys.stderr)
"""


@pytest.mark.parametrize("is_first", [True, False])
def test_a_killed_run_is_continued_by_the_next(command, tmp_path, is_first):
    if not is_first:
        assert command(*FIRST) == 0
        age(command, SERVICE, DOCSTRING, '"""Return one."""')
        command.edit(SERVICE, "return Conversation.user_id == scope.id", "return my_rule(scope)")
        age(command, "shop/conversations/factory.py", "helpful", "helpless")
    shutil.copytree(command.root, pristine := tmp_path / "pristine")
    assert command(*FIRST) == 0

    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(pristine), *FIRST],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )

    before, after = contents(pristine), contents(command.root)
    assert int(done.stderr) == sum(before.get(name) != data for name, data in after.items()) > 2
    for root in tmp_path.glob("killed-*"):
        assert contents(root) == contents(command.root)


INSERTED_AT = """\
        sa.Column(
            "inserted_at",
            sa.DateTime(timezone=True),
            server_default=sa.func.now(),
            nullable=False,
        ),
"""


def test_a_column_of_a_newer_kit_gets_one_more_revision(generated, servers):
    """An earlier kit had no `inserted_at`: neither the record nor its revision have it."""
    record = load_record(generated.read(RECORD))
    del record.schema["conversations"]["column inserted_at"]
    generated.write(RECORD, dump_record(record))
    (first,) = (generated.root / "migrations/versions").glob("*_create_conversations.py")
    mark = "Colloquy: shop.conversations "
    earlier = first.read_text().replace(INSERTED_AT, "", 1).replace(mark, f"{mark}0")
    first.write_text(earlier)

    assert generated("--check") == 1
    assert generated() == 0
    assert generated("--check") == 0
    assert first.read_text() == earlier
    (second,) = (generated.root / "migrations/versions").glob("*_change_conversations.py")
    assert f'down_revision: str | None = "{first.name[:12]}"' in second.read_text()
    url = servers.new_database(migrated=False).replace("postgresql:", "postgresql+psycopg2:")
    environment = {**os.environ, "DATABASE_URL": url, "PYTHONPATH": str(generated.root)}
    for command in (["upgrade", "head"], ["check"], ["downgrade", "base"]):
        alembic = [Path(sys.executable).with_name("alembic"), *command]
        subprocess.run(alembic, cwd=generated.root, env=environment, check=True)


def test_a_column_that_rows_would_not_have_is_refused(generated):
    record = load_record(generated.read(RECORD))
    del record.schema["conversations"]["column title"]
    (first,) = (generated.root / "migrations/versions").glob("*_create_conversations.py")
    first.unlink()
    generated.write(RECORD, dump_record(record))

    assert generated() == 2
    assert "column title of conversations" in generated.said


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("alembic.ini", "[alembic]\nscript_location = migrations\n"),
        ("migrations/alembic.ini", "[alembic]\n"),  # as Flask-Migrate has it
        ("pyproject.toml", '[tool.alembic]\nscript_location = "%(here)s/migrations"\n'),
    ],
)
def test_alembic_s_configuration_has_various_forms(command, file, text):
    (command.root / "alembic.ini").unlink()
    command.write(file, text)

    assert command(*FIRST, *(() if file == "alembic.ini" else ("--alembic", file))) == 0
    (revision,) = (command.root / "migrations/versions").glob("*_create_conversations.py")
    assert 'down_revision: str | None = "a1"' in revision.read_text()
    assert command("--check") == 0
