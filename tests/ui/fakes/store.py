"""Everything the fake API knows, and how it answers a turn."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from backend.schemas.conversations.sessions import (
    ChatResponse,
    DisplayMessage,
    EventContext,
    Problem,
    Session,
)
from backend.schemas.conversations.turns import Turn, TurnState, TurnStatus, Usage
from backend.schemas.data.queries import QueryTable
from backend.schemas.events import (
    MessageAdded,
    MessageUpdated,
    TextDelta,
    ThinkingDelta,
    TurnFinished,
    TurnQueued,
    TurnStarted,
)
from backend.schemas.operations.server import ServerInfo
from backend.schemas.operations.work import Work, WorkerInfo, WorkTurn
from backend.schemas.people.rights import Permission
from backend.schemas.retention import Retention, RetentionRules
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from tests.ui.fakes.account import FakeAccount
from tests.ui.fakes.approvals import FakeApprovals
from tests.ui.fakes.artifacts import FakeArtifacts
from tests.ui.fakes.branches import Fork
from tests.ui.fakes.domains import FakeDomains
from tests.ui.fakes.files import FakeFiles
from tests.ui.fakes.grants import FakeGrants
from tests.ui.fakes.inspection import Inspected
from tests.ui.fakes.people import FakePeople
from tests.ui.fakes.plans import FakePlans
from tests.ui.fakes.providers import FakeProviders
from tests.ui.fakes.reviews import FakeReviews
from tests.ui.fakes.servers import FakeServers
from tests.ui.fakes.usage import FakeUsage
from tests.ui.fakes.webhooks import FakeWebhooks

UNFINISHED = (TurnStatus.QUEUED, TurnStatus.RUNNING, TurnStatus.WAITING)


class Store:
    """Everything the fake knows; tests fill it and read it."""

    def __init__(self):
        self.server = ServerInfo(
            user="local",
            name="local",
            has_accounts=False,
            permissions=list(Permission),
            model="demo",
            is_demo_model=True,
            ready=True,
            workers=1,
            missing=[],
        )
        self.sessions: dict[UUID, Session] = {}
        self.leaving: dict[UUID, Session] = {}  # to be deleted
        self.rows: dict[UUID, list[DisplayMessage]] = {}
        self.turns: dict[UUID, Turn] = {}
        self.events: dict[UUID, list[tuple[str, dict]]] = {}
        self.forks: dict[UUID, Fork] = defaultdict(Fork)
        self.results: dict[str, str] = {}
        self.files: dict[str, bytes] = {}
        self.keys: dict[str, ChatResponse] = {}
        self.calls: list[str] = []
        self.bodies: list[dict] = []
        self.asked_domains: list[str | None] = []
        self.asked_teams: list[str | None] = []
        self.domains = FakeDomains()
        self.workers = [WorkerInfo(name="desk-1", turns=0, capacity=8, is_draining=False)]
        self.redis_answers = True
        self.approvals = FakeApprovals(self)
        self.artifacts = FakeArtifacts(self)
        self.plans = FakePlans(self)
        rules = RetentionRules(days=0, sessions_per_person=0, megabytes=0, every_hours=24)
        self.inspected = Inspected()
        self.retention = Retention(rules=rules, planned=0, first=[], runs=[])
        self.servers = FakeServers()
        self.account = FakeAccount()
        self.webhooks = FakeWebhooks()
        self.usage = FakeUsage()
        self.people = FakePeople()
        self.providers = FakeProviders()
        self.reviews = FakeReviews()
        self.own_table: QueryTable | None = None
        self.tables: dict[tuple[UUID, int], QueryTable] = {}  # by message and number
        self.uploads = FakeFiles()
        self.grants = FakeGrants()
        self.answers = True
        self.refusal: Problem | None = None
        self.search_refusal: Problem | None = None
        self.search_is_complete = True

    def add_session(self, title="Budget of CC-1001", *, age=timedelta(), **fields) -> Session:
        now = datetime.now(UTC) - age
        values = {
            "id": uuid4(), "title": title, "domain": "finance", "domain_id": uuid4(),
            "image_id": uuid4(), "status": "idle", "pinned": False, "archived": False,
            "message_count": 0, "turn_count": 0, "owner": "local", "created_at": now,
            "updated_at": now, "last_accessed_at": now,
        } | fields  # fmt: skip
        session = Session(**values)
        self.sessions[session.id] = session
        self.rows[session.id] = []
        self.events[session.id] = []
        return session

    def add_row(self, session, message_type, content_type, content, turn=None, **fields):
        rows = self.rows[session.id]
        row = DisplayMessage(
            id=fields.pop("id", None) or uuid4(), position=len(rows) + 1, message_type=message_type,
            content_type=content_type, content=content, sequence=fields.pop("sequence", 0),
            status=fields.pop("status", MessageStatus.COMPLETED), agent=fields.pop("agent", None),
            turn_id=turn.id if turn else None, created_at=datetime.now(UTC),
            metadata=fields.pop("metadata", {}),
        )  # fmt: skip
        rows.append(row)
        session.message_count = len(rows)
        if turn is not None:
            self.publish(turn, MessageAdded, message=row)
        return row

    def add_turn(self, session, message, status=TurnStatus.QUEUED, **fields) -> Turn:
        waiting = [t for t in self.unfinished(session.id)]
        turn = Turn(
            id=uuid4(), session_id=session.id, status=status, agent="Analyst", message=message,
            attempts=0, steps=0, usage=Usage(), error=None,
            queue_position=len(waiting) if status is TurnStatus.QUEUED else None,
            created_at=datetime.now(UTC), started_at=None, finished_at=None,
        ).model_copy(update=fields)  # fmt: skip
        self.turns[turn.id] = turn
        session.turn_count += 1
        self.publish(turn, TurnQueued, turn=turn)
        if not waiting:
            self.ask(turn)
        return turn

    def ask(self, turn):
        session = self.sessions[turn.session_id]
        session.status = turn.status
        self.add_row(session, MessageType.USER, ContentType.TEXT, {"text": turn.message}, turn)

    def unfinished(self, session_id) -> list[Turn]:
        return [
            t for t in self.turns.values() if t.session_id == session_id and t.status in UNFINISHED
        ]

    def work(self) -> Work:
        turns = [turn for turn in self.turns.values() if turn.status in UNFINISHED]
        failed = [turn for turn in self.turns.values() if turn.status is TurnStatus.FAILED]
        counts = {str(status): sum(t.status is status for t in turns) for status in UNFINISHED}
        return Work(
            **counts, redis_answers=self.redis_answers, workers=self.workers,
            turns=[self.work_turn(turn) for turn in turns],
            failures=[self.work_turn(turn) for turn in failed],
        )  # fmt: skip

    def work_turn(self, turn) -> WorkTurn:
        session, runs = self.sessions[turn.session_id], turn.status is TurnStatus.RUNNING
        state = TurnState(**turn.model_dump(include=set(TurnState.model_fields))).model_dump()
        if runs and turn.heartbeat_seconds is None:
            state |= {"heartbeat_seconds": 2.0, "lease_seconds": 8.0}
        latest = [t for t in self.turns.values() if t.session_id == session.id][-1]
        return WorkTurn(
            **state, id=turn.id, session_id=session.id, title=session.title, owner=session.owner,
            owner_name=session.owner.title(), status=turn.status, agent=turn.agent,
            worker="desk-1" if runs else None,
            age_seconds=75.0, error=turn.error,
            is_retryable=turn is latest and turn.status is TurnStatus.FAILED,
        )  # fmt: skip

    def publish(self, of, kind, agent=None, **data):
        session = self.sessions.get(of.session_id)
        if session is None:
            return
        context = EventContext(
            domain_id=None, session_id=session.id, image_id=session.image_id,
            agent_id=agent or of.agent, turn_id=of.id,
        )  # fmt: skip
        event = kind(context=context, **data)
        self.events[session.id].append((event.event, event.model_dump(mode="json")))

    def start(self, turn):
        turn.status, turn.attempts = TurnStatus.RUNNING, turn.attempts + 1
        turn.started_at = datetime.now(UTC)
        self.sessions[turn.session_id].status = TurnStatus.RUNNING
        self.publish(turn, TurnStarted, turn=turn)

    def finish(self, turn, status=TurnStatus.SUCCEEDED):
        if turn.status not in UNFINISHED:
            return
        turn.status, turn.finished_at = status, datetime.now(UTC)
        session = self.sessions.get(turn.session_id)
        if session is None:
            return
        session.updated_at = datetime.now(UTC)
        waiting = self.unfinished(session.id)
        session.status = waiting[0].status if waiting else "idle"
        self.publish(turn, TurnFinished, turn=turn)
        if waiting:
            self.ask(waiting[0])
            self.play(waiting[0])

    def play(self, turn):
        """Answer a turn the way the demo model does: think, call a tool, answer in pieces."""
        if not self.answers:
            return
        session = self.sessions[turn.session_id]
        self.start(turn)
        thinking = self.stream(turn, ThinkingDelta, "The person asks for a budget.")
        if thinking is None:
            return
        self.add_row(session, MessageType.ASSISTANT, ContentType.THINKING,
                     {"text": "The person asks for a budget."}, turn, agent="Analyst",
                     id=thinking)  # fmt: skip
        call = self.add_row(
            session, MessageType.ASSISTANT, ContentType.TOOL_CALL,
            {"call_id": "c1", "name": "lookup_budget", "arguments": {"cost_centre": "CC-1001"}},
            turn, status=MessageStatus.EXECUTING, agent="Analyst", sequence=1,
        )  # fmt: skip
        call.status = MessageStatus.COMPLETED
        self.publish(turn, MessageUpdated, message=call)
        self.add_row(
            session, MessageType.TOOL, ContentType.TOOL_RESULT,
            {"tool_call_id": "c1", "name": "lookup_budget", "content": "120000", "is_error": False},
            turn, agent="Analyst",
        )  # fmt: skip
        text = f"The budget of **CC-1001** is $120,000.\n\nYou asked: {turn.message[:200]}"
        answer = self.stream(turn, TextDelta, text)
        if answer is not None:
            self.add_row(session, MessageType.ASSISTANT, ContentType.TEXT, {"text": text}, turn,
                         agent="Analyst", id=answer)  # fmt: skip
            self.finish(turn)

    def stream(self, turn, kind, text) -> UUID | None:
        message_id = uuid4()
        for word in text.split(" "):
            if turn.status is not TurnStatus.RUNNING:
                return None
            self.publish(turn, kind, message_id=message_id, text=word + " ")
        return message_id
