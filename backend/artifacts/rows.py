"""The rows of artifacts and versions; a scope sees its own only, versions are only ever added."""

from dataclasses import dataclass, field
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, Text, cast, func, insert, or_, select, true, tuple_
from sqlalchemy.dialects.postgresql import insert as insert_new
from sqlalchemy.orm import Session, defer

from backend.artifacts.contents import Kept
from backend.auth.scope import Scope
from backend.conversations.removal import copied_contents
from backend.conversations.service import visible_to
from backend.cursor import decode_time_and_id, encode_cursor
from backend.errors.artifacts import ArtifactNotFound, ArtifactRefused
from backend.errors.conversations import SessionNotFound
from backend.schemas.artifacts import Artifact, ArtifactKind, ArtifactVersion
from backend.types import JSON
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow
from db.models.conversations.conversation import ConversationRow

MOST_ARTIFACTS = 2_000  # per session
MOST_VERSIONS = 1_000  # per artifact
_VERSION = ArtifactVersionRow


@dataclass(frozen=True)
class NewVersion:
    """A version to add; `key` is the same for each retry."""

    title: str
    kind: ArtifactKind
    media_type: str
    kept: Kept
    preview: JSON
    origin: JSON = field(default_factory=dict)
    agent: str | None = None
    turn_id: UUID | None = None
    message_id: str | None = None
    key: str | None = None


@dataclass(frozen=True)
class Added:
    """The current version of an artifact; not new if the content was equal.

    `is_made`: this call made it, now or in an earlier try.
    """

    artifact_id: UUID
    version: int
    title: str
    kind: ArtifactKind
    is_new: bool
    preview: JSON
    is_made: bool = False


def home_of(session: Session, conversation_id: UUID) -> UUID:
    """Return the conversation that owns what is made here: for a task, its plan's.

    Lock it so that it is not deleted in the same moment. Raise SessionNotFound.
    """
    wanted = select(ConversationRow.parent_id).where(ConversationRow.id == conversation_id)
    found = session.execute(wanted).one_or_none()
    home = conversation_id if found is None else found.parent_id or conversation_id
    held = select(ConversationRow.id).where(ConversationRow.id == home)
    if session.scalar(held.with_for_update(read=True, key_share=True)) is None:
        raise SessionNotFound
    return home


def add(session: Session, home: UUID, new: NewVersion, artifact_id: UUID | None = None) -> Added:
    """Add an artifact with its first version, unless the id exists already.

    An existing id is that of an earlier try of the same call.
    """
    known = artifact_id and session.get(ArtifactRow, artifact_id)
    if known:
        return _as_it_is(session, known, 1, is_made=True)
    count = select(func.count()).where(ArtifactRow.conversation_id == home)
    if (session.scalar(count) or 0) >= MOST_ARTIFACTS:
        raise ArtifactRefused(
            f"A session may have at most {MOST_ARTIFACTS:,} artifacts. Revise one of them instead."
        )
    chosen = artifact_id or uuid4()
    values = {"id": chosen, "conversation_id": home, "kind": new.kind, "title": new.title}
    insert = insert_new(ArtifactRow).values(**values).on_conflict_do_nothing()
    added = session.scalar(insert.returning(ArtifactRow.id))
    row = _locked(session, chosen)
    if added is None:
        return _as_it_is(session, row, 1, is_made=True)
    return _insert(session, row, 1, new)


def revise(
    session: Session,
    artifact_id: UUID,
    home: UUID | None,
    new: NewVersion,
    after: int | None = None,
) -> Added:
    """Add a version; concurrent calls add theirs one by one.

    Content equal to that of version `after`, the newest by default, adds none. Raise
    ArtifactNotFound; raise ArtifactRefused for another kind.
    """
    row = _locked(session, artifact_id, home)
    if row.kind != new.kind:
        raise ArtifactRefused(
            f"This artifact is of the kind {row.kind}, not {new.kind}. Make a new artifact instead."
        )
    if new.key and (earlier := _by_key(session, artifact_id, new.key)):
        return _as_it_is(session, row, earlier, is_made=True)
    before = row.version if after is None else after
    known = select(_VERSION.hash).where(
        _VERSION.artifact_id == artifact_id, _VERSION.version == before
    )
    if session.scalar(known) == new.kept.hash:
        return _as_it_is(session, row, before)
    if row.version >= MOST_VERSIONS:
        raise ArtifactRefused(
            f"An artifact may have at most {MOST_VERSIONS:,} versions. Make a new one."
        )
    return _insert(session, row, row.version + 1, new)


def find(
    session: Session,
    scope: Scope,
    artifact_id: UUID,
    version: int | None = None,
    home: UUID | None = None,
) -> tuple[ArtifactRow, ArtifactVersionRow]:
    """Return an artifact with one version, by default the newest, without its content.

    Raise ArtifactNotFound, also for another owner's or, with `home`, for one that this session
    neither owns nor names in copied messages.
    """
    wanted = _VERSION.version == (ArtifactRow.version if version is None else version)
    query = (
        select(ArtifactRow, _VERSION)
        .join(ConversationRow, ConversationRow.id == ArtifactRow.conversation_id)
        .join(_VERSION, _VERSION.artifact_id == ArtifactRow.id)
        .where(ArtifactRow.id == artifact_id, visible_to(scope), wanted, _readable_in(home))
        .options(defer(_VERSION.content))
    )
    found = session.execute(query).one_or_none()
    if found is None:
        raise ArtifactNotFound
    return found[0], found[1]


def content_of(session: Session, row: ArtifactVersionRow) -> bytes | None:
    """Return a version's content if it is stored in its row."""
    where = (_VERSION.artifact_id == row.artifact_id, _VERSION.version == row.version)
    content: bytes | None = session.scalar(select(_VERSION.content).where(*where))
    return content


def list_versions(session: Session, artifact: ArtifactRow) -> list[ArtifactVersion]:
    """Return all versions of an artifact, newest first, without previews and contents."""
    rows = session.scalars(
        select(_VERSION)
        .where(_VERSION.artifact_id == artifact.id)
        .order_by(_VERSION.version.desc())
        .options(defer(_VERSION.content), defer(_VERSION.preview))
    )
    return [wire_version(row, artifact.kind) for row in rows]


def list_page(
    session: Session, scope: Scope, session_id: UUID, *, cursor: str | None, limit: int
) -> tuple[list[Artifact], str | None]:
    """Return a page of a session's artifacts, newest first; a task's are those of its plan's.

    Raise SessionNotFound.
    """
    owning = select(func.coalesce(ConversationRow.parent_id, ConversationRow.id))
    home = session.scalar(owning.where(ConversationRow.id == session_id, visible_to(scope)))
    if home is None:
        raise SessionNotFound
    place = (ArtifactRow.created_at, ArtifactRow.id)
    newest = (_VERSION.artifact_id == ArtifactRow.id) & (_VERSION.version == ArtifactRow.version)
    query = (
        select(ArtifactRow, _VERSION)
        .join(_VERSION, newest)
        .where(ArtifactRow.conversation_id == home)
        .order_by(*(column.desc() for column in place))
        .limit(limit + 1)
        .options(defer(_VERSION.content), defer(_VERSION.preview))
    )
    if cursor:
        query = query.where(tuple_(*place) < decode_time_and_id(cursor, "artifacts"))
    found = session.execute(query).all()
    last = found[limit - 1][0] if len(found) > limit else None
    following = encode_cursor("artifacts", last.created_at, last.id) if last else None
    return [listed(*row) for row in found[:limit]], following


def wire_version(row: ArtifactVersionRow, kind: str) -> ArtifactVersion:
    """Return a version in wire form."""
    return ArtifactVersion(
        artifact_id=row.artifact_id,
        version=row.version,
        title=row.title,
        kind=ArtifactKind(kind),
        agent=row.agent,
        turn_id=row.turn_id,
        hash=row.hash,
        media_type=row.media_type,
        bytes=row.size,
        origin={name: value for name, value in row.origin.items() if name != "key"},
        created_at=row.created_at,
    )


def listed(row: ArtifactRow, newest: ArtifactVersionRow) -> Artifact:
    """Return an artifact as in lists."""
    return Artifact(
        id=row.id,
        session_id=row.conversation_id,
        kind=ArtifactKind(row.kind),
        title=row.title,
        version=row.version,
        agent=newest.agent,
        bytes=newest.size,
        created_at=row.created_at,
        updated_at=newest.created_at,
    )


def _locked(session: Session, artifact_id: UUID, home: UUID | None = None) -> ArtifactRow:
    query = select(ArtifactRow).where(ArtifactRow.id == artifact_id, _readable_in(home))
    held = query.with_for_update(of=ArtifactRow)
    row = session.scalar(held.execution_options(populate_existing=True))
    if row is None:
        raise ArtifactNotFound
    if home not in (None, row.conversation_id):
        raise ArtifactRefused(
            "This artifact belongs to a session that this one continues: it can be read here, but"
            " not revised. Make a new one from its content."
        )
    return row


def _by_key(session: Session, artifact_id: UUID, key: str) -> int | None:
    return session.scalar(
        select(_VERSION.version).where(
            _VERSION.artifact_id == artifact_id, _VERSION.origin["key"].astext == key
        )
    )


def _insert(session: Session, row: ArtifactRow, version: int, new: NewVersion) -> Added:
    origin = {**new.origin, **({"key": new.key} if new.key else {})}
    values = {
        "artifact_id": row.id,
        "version": version,
        "title": new.title,
        "agent": new.agent,
        "turn_id": new.turn_id,
        "message_id": new.message_id,
        "hash": new.kept.hash,
        "media_type": new.media_type,
        "size": new.kept.size,
        "preview": new.preview,
        "origin": origin,
        "content": new.kept.content,
        "key": new.kept.key,
    }
    session.execute(insert(_VERSION).values(**values))
    row.version, row.title = version, new.title
    session.flush()
    return Added(row.id, version, new.title, new.kind, True, new.preview, is_made=True)


def _as_it_is(session: Session, row: ArtifactRow, version: int, *, is_made: bool = False) -> Added:
    where = (_VERSION.artifact_id == row.id, _VERSION.version == version)
    found = session.execute(select(_VERSION.title, _VERSION.preview).where(*where)).one()
    kind = ArtifactKind(row.kind)
    return Added(row.id, version, found.title, kind, False, found.preview, is_made)


def _readable_in(home: UUID | None) -> ColumnElement[bool]:
    """Return the condition that a session owns an artifact, or names it in copied messages."""
    if home is None:
        return true()
    copied = copied_contents(home).subquery()
    named = select(copied).where(copied.c.content.contains(cast(ArtifactRow.id, Text)))
    return or_(ArtifactRow.conversation_id == home, named.exists())
