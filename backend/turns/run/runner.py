"""Running one turn: claim, restore, run, save step by step, finish."""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Protocol
from uuid import UUID

from backend.agents.factory import AgentRecipe
from backend.agents.run import run_agent
from backend.agents.steps.events import RunEvent, StepFinished
from backend.artifacts.messages import of_messages
from backend.connections.providers import Providers
from backend.data.sources import Sources
from backend.domains.allowed import Allowed
from backend.domains.team import specialists_for, without_models
from backend.domains.template import template_of
from backend.errors.base import AppError, ConfigurationError
from backend.errors.turns import LeaseLost
from backend.files.origins import finder
from backend.logs.fields import add_fields, only_fields
from backend.logs.outages import DATABASE, while_away
from backend.schemas.domains.templates import DomainTemplate
from backend.schemas.people.rights import Resource
from backend.telemetry.origins import request_of
from backend.tools.asker import TurnAsker, check_model
from backend.tools.context import ToolContext
from backend.tools.mcp.servers import ToolServers
from backend.tools.session_files import SessionFiles
from backend.turns.plan.start import TurnPlans
from backend.turns.process.agent_loop import AgentLoop
from backend.turns.process.fairness import choose_fairly, find_held_back, find_waiting
from backend.turns.process.liveness import hand_over
from backend.turns.process.services import Services
from backend.turns.run.claim import Claim, Suspect, claim_turn
from backend.turns.run.close import Closed, Outcome
from backend.turns.run.journal import TurnJournal
from backend.turns.run.lease import LeaseKeeper, TurnStopped
from backend.turns.run.outbox import TurnOutbox
from backend.turns.run.publish import publish_closed
from backend.turns.run.record.recorder import Recorder, TurnWaits
from backend.turns.run.titles import suggest_title
from backend.turns.run.traced import note_end, traced_attempt
from backend.types import JSON
from db.failpoints import failpoint
from db.session import AWAY, Database

MOST_WITH_ARTIFACTS = 200  # messages
log = logging.getLogger(__name__)

UNEXPECTED = (
    "An unexpected error ended the turn; the worker's log has the details under the turn {}. Press"
    " Retry."
)


class Suspects(Protocol):
    """Runs turns that may be what ends workers, each in a process that runs nothing else."""

    def run(self, turn_id: UUID) -> None:
        """Run the turn until its process has ended; return soon if another one is running."""

    def close(self) -> None:
        """Let a running process hand its turn over, and start no other one."""


@dataclass(frozen=True)
class Runtime:
    """What a worker process needs to run turns; `suspects` is None in one that runs only one."""

    name: str
    services: Services
    models: Providers
    sources: Sources
    loop: AgentLoop
    leases: LeaseKeeper
    servers: ToolServers
    suspects: Suspects | None


class _Cleared(Exception):
    """A suspect has saved a step: it may run beside others again."""


def run_turn(runtime: Runtime, turn_id: UUID) -> None:
    """Run a turn from its claim to its end; do nothing if it cannot be claimed.

    When the lease or the database is lost, nothing more is written; another attempt resumes.
    """
    with only_fields(turn=turn_id):
        _claim_and_run(runtime, turn_id)


def _claim_and_run(runtime: Runtime, turn_id: UUID) -> None:
    try:
        claim = _claim(runtime, turn_id)
    except AWAY as error:
        # The sweeper announces this one again.
        _log_away(f"Turn {turn_id} cannot be claimed", error)
        return
    if claim is None:
        return
    if isinstance(claim, Suspect):
        if runtime.suspects:
            runtime.suspects.run(claim.turn_id)
        return
    add_fields(
        turn=claim.turn_id,
        session=claim.conversation_id,
        person=claim.scope.user_id,
        request=request_of(claim.request),
    )
    try:
        with traced_attempt(claim, _Cleared) as traced:
            recorder = Recorder(runtime.services, claim)
            recorder.started()
            outcome = _run(runtime, claim, recorder)
            closed = _finish(recorder, claim, outcome) if outcome else None
            note_end(traced, closed.turn if closed else None)
        _suggest_title(runtime, claim)
        _let_next_run(runtime, claim.scope.user_id)
    except _Cleared:
        _hand_back(runtime, turn_id)
    except LeaseLost:
        log.warning("Turn %s: attempt %s no longer owns it", turn_id, claim.attempt)
    except AWAY as error:
        _log_away(f"Turn {turn_id}: attempt {claim.attempt} cannot be saved", error)


def find_waiting_turn(runtime: Runtime) -> UUID | None:
    """Return a waiting turn from the database, for when Redis announces none."""
    with runtime.services.database.read() as session:
        return find_waiting(session, runtime.services.settings.user_turns_at_once)


def _log_away(what: str, error: Exception) -> None:
    """Log it in one line, if at all: thousands of turns may be waiting for the database."""
    log.warning("%s: %s", what, str(error).splitlines()[0], extra=while_away(DATABASE))


def _hand_back(runtime: Runtime, turn_id: UUID) -> None:
    """Let any worker go on with the only turn of this process."""
    with runtime.services.database.transaction() as session:
        hand_over(session, runtime.name)
    runtime.services.queue.wake_again([turn_id])


def _claim(runtime: Runtime, turn_id: UUID) -> Claim | Suspect | None:
    """Claim the turn, or, when many wait, the one whose owner has the fewest running."""
    services = runtime.services
    seconds, at_once = services.settings.lease_seconds, services.settings.user_turns_at_once
    is_alone = runtime.suspects is None
    has_backlog = services.queue.has_backlog() and not is_alone
    with services.database.transaction() as session:
        chosen = choose_fairly(session, turn_id, at_once) if has_backlog else turn_id
        claim = claim_turn(session, chosen, runtime.name, seconds, at_once, is_alone=is_alone)
    if claim is None and chosen != turn_id:
        chosen = turn_id
        # A transaction of its own: locking two turns in one could deadlock with other workers.
        with services.database.transaction() as session:
            claim = claim_turn(session, chosen, runtime.name, seconds, at_once)
    if chosen != turn_id:
        services.queue.requeue(turn_id)
    if isinstance(claim, Closed):
        publish_closed(services, claim)
        return None
    failpoint("claim.after_commit")
    return claim


def _run(runtime: Runtime, claim: Claim, recorder: Recorder) -> Outcome | None:
    """Run the agent until it answers, fails or is stopped; return None if the turn waits."""
    try:
        recorder.check_usage()  # a lost attempt may have ended right after its step
        agent = partial(run_agent, _recipe(runtime, claim), claim.stored.state)
        with (
            TurnOutbox(runtime.loop, agent) as outbox,
            runtime.leases.hold(claim.turn_id, claim.attempt, outbox.cancel),
        ):
            outbox.deliver(_record_by(runtime, recorder))
    except TurnWaits:
        return None
    except TurnStopped:
        return Outcome.stopped()
    except (LeaseLost, _Cleared, *AWAY):
        raise
    except AppError as error:
        return Outcome.failed(error.title, error.detail, error.offer)
    except Exception:  # the edge: whatever an agent raises ends its turn, never the worker
        log.exception("The turn failed")
        return _unexpected(claim)
    return Outcome.succeeded()


def _record_by(runtime: Runtime, recorder: Recorder) -> Callable[[RunEvent], None]:
    """Return what records a turn's events; a suspect is cleared by the first step that is saved."""
    if runtime.suspects is not None:
        return recorder.record

    def record(event: RunEvent) -> None:
        recorder.record(event)
        if isinstance(event, StepFinished) and event.messages:
            raise _Cleared

    return record


def _finish(recorder: Recorder, claim: Claim, outcome: Outcome) -> Closed:
    """End the turn; drop what was in flight if that is what cannot be stored."""
    try:
        return recorder.finish(outcome)
    except (LeaseLost, *AWAY):
        raise
    except Exception:  # the edge: a turn that cannot end would be run again and again
        log.exception("The end of a turn cannot be stored")
        recorder.forget_in_flight()
        return recorder.finish(_unexpected(claim))


def _unexpected(claim: Claim) -> Outcome:
    return Outcome.failed("Something went wrong", UNEXPECTED.format(claim.turn_id))


def _suggest_title(runtime: Runtime, claim: Claim) -> None:
    with suppress(ConfigurationError):  # the turn has reported it
        models = runtime.models.of(claim.connection)
        suggest_title(runtime.services.database, models, runtime.loop, claim)


def _let_next_run(runtime: Runtime, owner_id: str) -> None:
    """Wake the owner's next turn, if only the limit of concurrent turns held it back."""
    services = runtime.services
    with services.database.read() as session:
        turn_id = find_held_back(session, owner_id, services.settings.user_turns_at_once)
    if turn_id:
        services.queue.wake(turn_id)


def _plans(services: Services, claim: Claim, image: DomainTemplate) -> TurnPlans | None:
    """Return the object that starts plans for the image's manager; other agents may not."""
    if image.manager is None:
        return None
    agents = [agent.name for agent in specialists_for(image, claim.role)]
    return TurnPlans(services, claim.conversation_id, claim.turn_id, claim.attempt, agents)


def _artifacts(database: Database, claim: Claim) -> Mapping[str, Sequence[JSON]]:
    """Return the artifacts made with the messages that an agent of a team may read."""
    manager = template_of(claim.image).manager
    if manager is None:
        return {}
    answers = [m["id"] for m in claim.stored.state["messages"] if m["role"] == "assistant"]
    with database.read() as session:
        newest = answers[-MOST_WITH_ARTIFACTS:]
        most = manager.artifact_characters
        return of_messages(session, claim.conversation_id, newest, most)


def _sources(runtime: Runtime, claim: Claim, asker: TurnAsker) -> Sources:
    """Return the sources that exist for who asked, and the files that they may query here."""
    services, place = runtime.services, claim.conversation_id
    files = finder(services.database, services.files, lambda: asker.rights().scope, place)
    installed = runtime.sources.without(lambda: asker.rights().withheld_of(Resource.SOURCE))
    return installed.beside(files)


def _recipe(runtime: Runtime, claim: Claim) -> AgentRecipe:
    services = runtime.services
    patience = services.settings.lease_seconds
    asker = TurnAsker(services.database, claim.rights, claim.conversation_id, patience)

    async def permit(model: str) -> None:
        check_model(await asker.check(), model)

    image = without_models(template_of(claim.image), asker.rights().withheld_of(Resource.MODEL))
    return AgentRecipe(
        image=image,
        agent_name=claim.turn.agent,
        models=runtime.models.of(claim.connection).permitted_by(permit),
        model=claim.turn.model,
        role=claim.role,
        artifacts=_artifacts(services.database, claim),
        route=claim.turn.route,
        steps=claim.turn.steps,
        tool_context=ToolContext(
            sources=_sources(runtime, claim, asker),
            conversation_id=claim.conversation_id,
            turn_id=claim.turn_id,
            scope=claim.scope,
            plans=_plans(services, claim, image),
            artifacts=services.artifacts,
            session_files=SessionFiles(
                services.database,
                services.files,
                lambda: asker.rights().scope,
                claim.conversation_id,
            ),
            agent=claim.turn.agent,
            has_documents=claim.has_documents,
            makes_artifacts=claim.is_task,
            asking=asker,
        ),
        allowed=Allowed.of(services.settings),
        journal=TurnJournal(
            services.database,
            claim.turn_id,
            claim.attempt,
            claim.journal,
            patience=patience,
        ),
        health=runtime.servers.health,
        memory=runtime.servers.tools.of(claim.context.domain_id),
        sandbox=runtime.services.sandbox,
        answers=claim.answers,
    )
