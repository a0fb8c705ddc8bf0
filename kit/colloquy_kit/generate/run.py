"""One run: from the answers to the changes of all files, the record last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from colloquy_kit.generate.answers import Answers, merge_answers, read_answers, write_answers
from colloquy_kit.generate.changes import CONFLICTED, Change, decide, read
from colloquy_kit.generate.errors import Refused
from colloquy_kit.generate.files import make_tables, render
from colloquy_kit.generate.host import Host, inspect_host
from colloquy_kit.generate.record import RECORD, Record, Schema, dump_record, load_record
from colloquy_kit.generate.revisions import MARK, History, name_schema, write_revision
from colloquy_kit.generate.schema import alter, create, describe

NEEDED = ("langchain", "langgraph")
PROJECT, BESIDE = "pyproject.toml", "colloquy.toml"


@dataclass(frozen=True)
class Run:
    """What is to be done, in the order in which it is written."""

    changes: Sequence[Change]
    next_steps: Sequence[str]

    @property
    def writes(self) -> list[Change]:
        """Return the changes that write something."""
        return [change for change in self.changes if change.writes]


def prepare(root: Path, given: Mapping[str, str | None], *, force: bool) -> Run:
    """Return what a run with these answers would do; change nothing. Raise Refused."""
    remembered, place = _remembered(root)
    answers = merge_answers(given, remembered)
    record_text = read(root / RECORD)
    record = Record() if record_text is None else load_record(record_text)
    history = History(root, answers.alembic)
    host = inspect_host(root, answers)
    wanted = render(root, host, answers)
    files = list(decide(root, wanted, record.files, force))
    schema, revisions, migration = _migration(root, history, answers, host, record)
    said = write_answers(read(root / place) or "", place, answers)
    renewed = Record(_bases(files, wanted, record.files), schema, revisions)
    ends = [_change(root, place, said), _change(root, RECORD, dump_record(renewed))]
    return Run([*files, *migration, *ends], _next_steps(answers, migration))


def _remembered(root: Path) -> tuple[Answers | None, str]:
    found = {
        name: answers
        for name in (PROJECT, BESIDE)
        if (text := read(root / name)) is not None
        and (answers := read_answers(text, name)) is not None
    }
    if len(found) > 1:
        raise Refused(f"Both {PROJECT} and {BESIDE} have answers in [tool.colloquy]: keep one.")
    for name, answers in found.items():
        return answers, name
    return None, PROJECT if (root / PROJECT).exists() else BESIDE


def _bases(
    files: Sequence[Change], wanted: Mapping[str, str], recorded: Mapping[str, str]
) -> dict[str, str]:
    """Return what later edits are merged against: what this run has brought into each file."""
    bases = {}
    for change in files:
        is_wanted = change.path in wanted
        if is_wanted and change.after is not None and change.action != CONFLICTED:
            bases[change.path] = wanted[change.path]
        elif change.path in recorded and (is_wanted or change.after is not None):
            bases[change.path] = recorded[change.path]
    return bases


def _migration(
    root: Path, history: History, answers: Answers, host: Host, record: Record
) -> tuple[Schema, Mapping[str, str], list[Change]]:
    """Return the schema, all revisions of it, and the file of a new one if it is needed."""
    tables = make_tables(host, answers)
    schema = describe(tables)
    name = name_schema(schema)
    head, written = history.head(), history.written(answers.target)
    revisions = {**record.revisions}
    if name in written:  # this run, or one that was killed before its record
        earlier, file_of_it = written[name]
        return schema, {**revisions, earlier: _inside(root, file_of_it)}, []
    if record.schema == schema:
        lost = [path for path in revisions.values() if not (root / path).exists()]
        kept = "is gone: if its tables are in another revision that is right, else restore it"
        return schema, revisions, [Change(path, kept, None, None) for path in lost]
    try:
        steps = alter(record.schema, tables) if record.schema else create(tables)
    except Refused as error:
        line = f"{MARK}{answers.target} {name}"
        said = f"{error.detail} Write that migration by hand, with this line in its docstring"
        raise Refused(f"{said}, and run this again: {line}") from error
    revision, file, text = write_revision(answers.target, name, head, steps)
    path = _inside(root, history.folder / file)
    return schema, {**revisions, revision: path}, [_change(root, path, text)]


def _change(root: Path, path: str, text: str) -> Change:
    before = read(root / path)
    action = "unchanged" if before == text else "created" if before is None else "updated"
    return Change(path, action, before, text)


def _inside(root: Path, path: Path) -> str:
    if not path.resolve().is_relative_to(root.resolve()):
        raise Refused(f"The folder of migrations, {path.parent}, is not inside {root}.")
    return path.resolve().relative_to(root.resolve()).as_posix()


def _next_steps(answers: Answers, migration: Sequence[Change]) -> list[str]:
    steps = [
        f"Next: call {answers.target}.service.bind(sessionmaker) where the application starts, and"
        f" choose the model and tools in {answers.target}.factory."
    ]
    if any(change.writes for change in migration):
        steps.append("Then: alembic upgrade head.")
    if not all(find_spec(name) for name in NEEDED):
        steps.append("Agents need LangChain, which is not installed: colloquy-kit[langgraph].")
    return steps
