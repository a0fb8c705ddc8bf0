"""Checks of artifacts: versions have no gaps, and each has its content with size and hash."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import Session

from backend.artifacts.contents import Contents, digest
from backend.errors.artifacts import ArtifactContentGone
from backend.storage.stores import StoredObject
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow, ErasedContentRow
from db.session import Database

BATCH = 100  # artifacts
KEYS = 500
MOST_HASHED = 200  # contents in the store, a random sample
MOST_HASHED_BYTES = 2_000_000_000
SETTLED = timedelta(hours=1)  # newer content may not have its row yet
_VERSION = ArtifactVersionRow


class ArtifactRepair(StrEnum):
    """The repair proposed for a finding."""

    SETTLE = "let it name the newest version that there is"
    KEEP = "take the content off the list of those to be erased"
    ERASE = "erase them"
    NONE = "restore it from a backup, or delete its session"


@dataclass(frozen=True)
class ArtifactFinding:
    """An inconsistency, in words, and the repair proposed for it.

    `id` is an artifact's; without one, the finding is about contents in the store: `keys`.
    """

    problem: str
    repair: ArtifactRepair
    id: UUID | None = None
    keys: Sequence[str] = ()

    @property
    def subject(self) -> str:
        """The object of the finding."""
        return "store of artifacts" if self.id is None else f"artifact {self.id}"


class Stored(NamedTuple):
    """A version whose content is in the store."""

    artifact_id: UUID
    version: int
    key: str
    hash: str
    size: int


@dataclass
class CheckCounts:
    """How much was checked, and a random sample of the store's contents to hash."""

    versions: int = 0
    in_store: int = 0
    misfits: int = 0
    hashed: int = 0
    chosen: list[Stored] = field(default_factory=list)

    def choose(self, row: Stored) -> None:
        """Add one more content to the sample, with equal probability for all."""
        self.in_store += 1
        if len(self.chosen) < MOST_HASHED:
            self.chosen.append(row)
        elif (place := int(random.random() * self.in_store)) < MOST_HASHED:  # noqa: S311 - no secret
            self.chosen[place] = row

    @property
    def summary(self) -> str:
        """How much was checked, in a sentence."""
        inline = self.versions - self.in_store
        fit = self.in_store - self.misfits
        some = "all" if self.hashed == fit else f"{self.hashed:,} chosen at random"
        return (
            f"{self.versions:,} versions of artifacts checked; hashed of {inline:,} contents in"
            f" PostgreSQL all, of {self.in_store:,} in the store {some}"
        )


def check_artifacts(
    database: Database,
    contents: Contents,
    looked: CheckCounts,
    sessions: Sequence[UUID] = (),
    *,
    all_contents: bool = False,
) -> Iterator[ArtifactFinding]:
    """Yield what is wrong with artifacts, of these sessions only if any are given.

    Raise ArtifactStoreUnavailable if the store does not answer.
    """
    for ids in _ids(database, sessions):
        with database.read() as session:
            found = [*_numbers(session, ids), *_inline(session, ids)]
            rows = session.execute(_STORED.where(_VERSION.artifact_id.in_(ids)))
            stored = [Stored(row[0], row[1], str(row[2]), row[3], row[4]) for row in rows]
            count = select(func.count()).where(_VERSION.artifact_id.in_(ids))
            looked.versions += session.scalar(count) or 0
            found += _to_be_erased(session, [row.key for row in stored])
        yield from found
        for row in stored:
            if finding := _misses(contents, row):
                looked.in_store, looked.misfits = looked.in_store + 1, looked.misfits + 1
                if _is_there(database, row):  # otherwise deleted since, with its content
                    yield finding
            elif all_contents:
                looked.in_store += 1
                yield from _hash(contents, row, looked)
            else:
                looked.choose(row)
    yield from _hash_chosen(contents, looked)
    if not sessions:
        yield from _without_version(database, contents)


def repair_artifact(database: Database, contents: Contents, finding: ArtifactFinding) -> bool:
    """Repair what can be repaired; return whether the finding is settled."""
    if finding.repair is ArtifactRepair.NONE:
        return False
    if finding.repair is ArtifactRepair.ERASE:
        contents.store.erase(finding.keys)
        return True
    with database.transaction() as session:
        if finding.repair is ArtifactRepair.KEEP:
            listed = ErasedContentRow.key.in_(finding.keys)
            session.execute(delete(ErasedContentRow).where(listed))
            return True
        return _settle(session, finding.id)


def _settle(session: Session, artifact_id: UUID | None) -> bool:
    session.execute(select(ArtifactRow.id).where(ArtifactRow.id == artifact_id).with_for_update())
    newest = session.execute(
        select(_VERSION.version, _VERSION.title)
        .where(_VERSION.artifact_id == artifact_id)
        .order_by(_VERSION.version.desc())
        .limit(1)
    ).one_or_none()
    if newest is None:
        return False
    session.execute(
        update(ArtifactRow)
        .where(ArtifactRow.id == artifact_id)
        .values(version=newest.version, title=newest.title)
    )
    return True


def _ids(database: Database, sessions: Sequence[UUID]) -> Iterator[list[UUID]]:
    last: UUID | None = None
    while True:
        query = select(ArtifactRow.id).order_by(ArtifactRow.id).limit(BATCH)
        if sessions:
            query = query.where(ArtifactRow.conversation_id.in_(sessions))
        with database.read() as session:
            some = session.scalars(query if last is None else query.where(ArtifactRow.id > last))
            found = list(some)
        if found:
            yield found
        if len(found) < BATCH:
            return
        last = found[-1]


def _numbers(session: Session, ids: Sequence[UUID]) -> Iterator[ArtifactFinding]:
    """Yield artifacts whose versions are not 1, 2, 3 … up to the newest they name."""
    count, newest = func.count(_VERSION.version), func.max(_VERSION.version)
    query = (
        select(ArtifactRow.id, ArtifactRow.version, count, newest)
        .outerjoin(_VERSION, _VERSION.artifact_id == ArtifactRow.id)
        .where(ArtifactRow.id.in_(ids))
        .group_by(ArtifactRow.id)
        .having(or_(count == 0, newest != count, newest != ArtifactRow.version))
    )
    for artifact_id, named, versions, last in session.execute(query):
        if not versions:
            yield ArtifactFinding("it has no version", ArtifactRepair.NONE, artifact_id)
            continue
        if last != versions:
            problem = f"its versions have a gap: {versions} of {last} are there"
            yield ArtifactFinding(problem, ArtifactRepair.NONE, artifact_id)
        if last != named:
            problem = f"it names {named} as its newest version, which is {last}"
            yield ArtifactFinding(problem, ArtifactRepair.SETTLE, artifact_id)


def _inline(session: Session, ids: Sequence[UUID]) -> Iterator[ArtifactFinding]:
    """Yield versions whose content is missing from their row, or differs."""
    size = func.octet_length(_VERSION.content)
    hashed = func.encode(func.sha256(_VERSION.content), "hex")
    query = select(
        _VERSION.artifact_id, _VERSION.version, _VERSION.size.label("wanted"), size.label("held")
    ).where(
        _VERSION.artifact_id.in_(ids),
        _VERSION.key.is_(None),
        or_(_VERSION.content.is_(None), size != _VERSION.size, hashed != _VERSION.hash),
    )
    for row in session.execute(query):
        yield ArtifactFinding(
            _difference(row.version, row.held, row.wanted), ArtifactRepair.NONE, row.artifact_id
        )


def _to_be_erased(session: Session, keys: Sequence[str]) -> Iterator[ArtifactFinding]:
    query = (
        select(_VERSION.artifact_id, _VERSION.version, _VERSION.key)
        .join(ErasedContentRow, ErasedContentRow.key == _VERSION.key)
        .where(_VERSION.key.in_(keys))
    )
    for artifact_id, version, key in session.execute(query):
        problem = f"the content of version {version} is about to be erased"
        yield ArtifactFinding(problem, ArtifactRepair.KEEP, artifact_id, [str(key)])


def _misses(contents: Contents, row: Stored) -> ArtifactFinding | None:
    """Return the finding if a content is missing from the store or has another size."""
    held = contents.store.size(row.key)
    if held == row.size:
        return None
    problem = _difference(row.version, held, row.size, "the store")
    return ArtifactFinding(problem, ArtifactRepair.NONE, row.artifact_id)


def _is_there(database: Database, row: Stored) -> bool:
    with database.read() as session:
        return session.get(ArtifactRow, row.artifact_id) is not None


def _hash_chosen(contents: Contents, looked: CheckCounts) -> Iterator[ArtifactFinding]:
    left = MOST_HASHED_BYTES
    for row in looked.chosen:
        left -= row.size
        if left < 0:
            return
        yield from _hash(contents, row, looked)


def _hash(contents: Contents, row: Stored, looked: CheckCounts) -> Iterator[ArtifactFinding]:
    with contents.folder() as folder:
        try:
            found = digest(contents.store.fetch(row.key, folder / "stored"))
        except (ArtifactContentGone, FileNotFoundError):
            return  # deleted since the check a moment ago
    looked.hashed += 1
    if found != row.hash:
        problem = _difference(row.version, row.size, row.size, "the store")
        yield ArtifactFinding(problem, ArtifactRepair.NONE, row.artifact_id)


def _difference(version: int, held: int | None, wanted: int, place: str = "PostgreSQL") -> str:
    if held is None:
        return f"version {version} has no content in {place}"
    if held != wanted:
        return f"version {version} has {held:,} bytes in {place} and should have {wanted:,}"
    return f"version {version} has another content in {place} than it was made with"


def _without_version(database: Database, contents: Contents) -> Iterator[ArtifactFinding]:
    """Yield contents that no version names, some hundreds per finding."""
    before = datetime.now(UTC) - SETTLED
    settled = (held for held in contents.store.list_all() if held.at < before)
    while some := {held.key: held for held in islice(settled, KEYS)}:
        with database.read() as session:
            known = set(session.scalars(select(_VERSION.key).where(_VERSION.key.in_(some))))
            listed = select(ErasedContentRow.key).where(ErasedContentRow.key.in_(some))
            known |= set(session.scalars(listed))
        if stray := [held for key, held in some.items() if key not in known]:
            yield ArtifactFinding(
                _stray(stray), ArtifactRepair.ERASE, keys=[held.key for held in stray]
            )


def _stray(stray: Sequence[StoredObject]) -> str:
    size = sum(held.size for held in stray)
    what = "1 content" if len(stray) == 1 else f"{len(stray):,} contents"
    return f"{what} of {size:,} bytes in all that no version names"


_STORED = select(
    _VERSION.artifact_id, _VERSION.version, _VERSION.key, _VERSION.hash, _VERSION.size
).where(_VERSION.key.is_not(None))
