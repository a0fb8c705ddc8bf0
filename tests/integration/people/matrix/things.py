"""One of each thing that a session holds, put into the database as the software itself would."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy.orm import Session

from backend.auth.scope import Scope
from backend.conversations import service as conversations
from backend.conversations import views
from backend.conversations.service import Image
from backend.domains.template import image_of
from backend.files.store import FileStore
from backend.schemas.domains.templates import DomainTemplate
from colloquy_kit.messages.state import empty_state
from db.models.artifacts.artifact import ArtifactRow, ArtifactVersionRow
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.display_message import DisplayMessageRow, ToolResultRow
from db.models.conversations.session_link import SessionLinkRow
from db.models.file import FileRow
from db.models.planning.plan import PlanRow, TaskRow
from db.models.turns.approval import ApprovalRow
from db.models.turns.turn import TurnRow

WORD = "Tangerine"  # in every message
TABLE = {"columns": [{"name": "a", "type": "INTEGER"}], "rows": [[1]], "row_count": 1}
IMAGE = image_of(DomainTemplate(name="Matrix"))


@dataclass(frozen=True)
class Things:
    """The ids of a session and of what it holds, by their names in addresses."""

    session_id: str
    turn_id: str
    result_id: str
    artifact_id: str
    task_id: str
    approval_id: str
    link_id: str
    file_id: str
    image_id: str
    message_id: str
    version: int = 1
    number: int = 1
    tool: str = "make_chart"

    @property
    def ids(self) -> dict[str, str]:
        """The ids alone."""
        return {name: value for name, value in asdict(self).items() if name.endswith("_id")}


def nothing() -> Things:
    """Ids of things that do not exist."""
    return Things(*(str(uuid4()) for _ in range(10)))


def make_things(
    session: Session, store: FileStore, owner: str, team: str | None = None, title: str = ""
) -> Things:
    """Make a session of this owner, or of this team, and all that it can hold."""
    scope = Scope(owner, teams=frozenset(filter(None, [team])))
    image = Image(None, "Matrix", IMAGE)
    session_id = conversations.create(session, scope, image, title or f"{WORD} {owner}", team=team)
    views.begin(session, session_id, empty_state())
    turn_id, result_id, message_id = _say(session, session_id, owner)
    _wait_for_people(session, session_id, owner, approval_id := uuid4())
    artifact_id, task_id = uuid4(), uuid4()
    _add_artifact(session, session_id, turn_id, artifact_id)
    _add_task(session, session_id, turn_id, owner, task_id)
    link = SessionLinkRow(
        conversation_id=session_id, token_hash=uuid4().hex, made_by=owner,
        expires_at=datetime.now(UTC) + timedelta(days=1),
    )  # fmt: skip
    session.add(link)
    file_id = _add_file(session, store, session_id, owner)
    session.flush()
    image_id = session.get_one(ConversationRow, session_id).image_id
    ids = (
        session_id, turn_id, result_id, artifact_id, task_id, approval_id, link.id, file_id,
        image_id, message_id,
    )  # fmt: skip
    return Things(*map(str, ids))


def _say(session: Session, session_id: UUID, owner: str) -> tuple[UUID, UUID, UUID]:
    """Add a finished turn with its messages, a tool's whole result, and a query with its table."""
    turn = TurnRow(
        id=uuid4(), conversation_id=session_id, owner_id=owner, agent="Assistant",
        message=WORD, message_position=1, status="succeeded", finished_at=datetime.now(UTC),
        attempt=1, steps=1, state_version=0,
    )  # fmt: skip
    session.add(turn)
    said = {"user": WORD, "assistant": f"{WORD} it is."}
    for position, (speaker, text) in enumerate(said.items(), 1):
        session.add(
            DisplayMessageRow(
                conversation_id=session_id, position=position, turn_id=turn.id,
                message_type=speaker, content_type="text", content={"text": text},
                status="completed",
            )
        )  # fmt: skip
    query = DisplayMessageRow(
        conversation_id=session_id, position=len(said) + 1, turn_id=turn.id,
        message_type="assistant", content_type="tool_call", status="completed",
        content={"name": "query_source", "call_id": "q", "arguments": {"sql": "SELECT 1 AS a"}},
        metadata_={"table": TABLE},
    )  # fmt: skip
    session.add(query)
    result = ToolResultRow(conversation_id=session_id, result={"kind": "table", **TABLE})
    session.add(result)
    session.get_one(ConversationRow, session_id).message_count = len(said) + 1
    session.flush()
    return turn.id, result.id, query.id


def _wait_for_people(session: Session, session_id: UUID, owner: str, approval_id: UUID) -> None:
    turn = TurnRow(
        id=uuid4(), conversation_id=session_id, owner_id=owner, agent="Assistant",
        message=WORD, status="waiting", waits_for="people",
    )  # fmt: skip
    session.add(turn)
    session.flush()
    session.add(
        ApprovalRow(
            id=approval_id, conversation_id=session_id, turn_id=turn.id, message_id="m", number=1,
            call_id="c", tool="make_chart", arguments={}, arguments_hash="h", position=2,
            request={"description": WORD, "allowed_decisions": ["approve", "edit", "reject"],
                     "args_schema": {}},
        )
    )  # fmt: skip


def _add_artifact(session: Session, session_id: UUID, turn_id: UUID, artifact_id: UUID) -> None:
    content = WORD.encode()
    session.add(
        ArtifactRow(id=artifact_id, conversation_id=session_id, kind="document", title=WORD)
    )
    session.flush()
    session.add(
        ArtifactVersionRow(
            artifact_id=artifact_id, version=1, title=WORD, turn_id=turn_id, message_id="m",
            hash=sha256(content).hexdigest(), media_type="text/markdown", size=len(content),
            content=content,
        )
    )  # fmt: skip


def _add_task(session: Session, session_id: UUID, turn_id: UUID, owner: str, task_id: UUID) -> None:
    plan = PlanRow(
        id=uuid4(), conversation_id=session_id, turn_id=turn_id, message_id="m", number=1,
        call_id="c", name=WORD, status="waiting",
    )  # fmt: skip
    session.add(plan)
    session.flush()
    session.add(
        TaskRow(
            id=task_id, plan_id=plan.id, conversation_id=session_id, place=1, temp_id="t1",
            name=WORD, description=WORD, agent="Assistant", on_failure="ask", status="failed",
        )
    )  # fmt: skip


def _add_file(session: Session, store: FileStore, session_id: UUID, owner: str) -> UUID:
    content, file_id = b"a,b\n1,2\n", uuid4()
    place: Path = store.path(file_id)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    read: dict[str, Any] = {"tables": []}
    name = f"tangerine_{file_id.hex[:6]}"
    session.add(
        FileRow(
            id=file_id, owner_id=owner, conversation_id=session_id,
            name=f"{name}.csv", source=name, size=len(content), format="text", kind="table",
            sha256=sha256(content).hexdigest(), understood=read,
        )
    )  # fmt: skip
    session.flush()
    return file_id
