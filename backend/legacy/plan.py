"""What becomes of each row: which image it has, whose history, and with whom it shares that. Pure.

The older system ran the conversations of a domain on the domain's first image. Their messages are
in one session, and nothing tells whose they are: each gets all of them, marked as mixed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from backend.legacy.rows import LegacyRow, Names
from backend.legacy.store import Store
from backend.legacy.values import read_time
from backend.text import counted

CONTAINER = "domain_"


class Outcome(StrEnum):
    """What becomes of a row."""

    KEPT = "kept"  # with the image that it names
    BOUND = "bound"  # with the image that its session is bound to
    RECREATED = "recreated"  # with a new image of its domain
    REPORTED = "reported"  # nothing is made of it


class Reason(StrEnum):
    """Why."""

    IMAGE = "its image is named"
    SESSION = "its session is bound to an image"
    SESSION_ALONE = "its session is bound to no image"
    AGENT = "its agent is gone"
    NOTHING = "it names no image, session or agent"
    OTHER = "it names something unknown"
    TWIN = "it is equal to another row"
    UNREADABLE = "it cannot be read"
    DOMAIN = "its domain is unknown"
    FAILED = "it could not be stored"


@dataclass(frozen=True)
class Plan:
    """What is to become of one row.

    `image_id`: whose configuration it gets; empty: its domain's. `history`: the session whose
    messages it gets; empty: none. `shares_with`: how many other rows have the same image.
    """

    row: LegacyRow
    outcome: Outcome
    reason: Reason
    image_id: str = ""
    history: str = ""
    shares_with: int = 0
    notes: list[str] = field(default_factory=list)


def make_plans(rows: Sequence[LegacyRow], store: Store) -> list[Plan]:
    """Return a plan for each row, in their order."""
    found = [_plan(row, store) for row in rows]
    sharing: dict[str, int] = defaultdict(int)
    for plan, used in found:
        if plan.outcome is not Outcome.REPORTED and used:
            sharing[used] += 1
    return [
        replace(plan, shares_with=sharing[used] - 1) if sharing.get(used) else plan
        for plan, used in found
    ]


def _plan(row: LegacyRow, store: Store) -> tuple[Plan, str]:
    """Return the plan of one row, and the image whose history it has."""
    if row.is_lost:
        return Plan(row, Outcome.REPORTED, Reason.UNREADABLE), ""
    if row.twin is not None:
        note = f"It is equal to row {row.twin} in everything, so it was taken once."
        return Plan(row, Outcome.REPORTED, Reason.TWIN, notes=[note]), ""
    if row.names is Names.IMAGE:
        return _with_image(row, store, row.value, Outcome.KEPT, Reason.IMAGE, [])
    if row.names is Names.SESSION:
        return _of_session(row, store)
    if row.names is Names.AGENT:
        return _recreated(row, store, Reason.AGENT)
    is_empty = row.names is Names.NOTHING
    return Plan(row, Outcome.REPORTED, Reason.NOTHING if is_empty else Reason.OTHER), ""


def _of_session(row: LegacyRow, store: Store) -> tuple[Plan, str]:
    images = store.images_of_session(row.value)
    if not images:
        if row.value not in store.with_messages:
            return _recreated(row, store, Reason.SESSION_ALONE)
        return Plan(row, Outcome.RECREATED, Reason.SESSION_ALONE, history=row.value), row.value
    others = len(images) - 1
    notes = [f"Its session is bound to {counted(others, 'more image')}; the oldest was taken."]
    return _with_image(
        row, store, images[0], Outcome.BOUND, Reason.SESSION, notes if others else []
    )


def _with_image(
    row: LegacyRow,
    store: Store,
    image_id: str,
    outcome: Outcome,
    reason: Reason,
    notes: list[str],
) -> tuple[Plan, str]:
    if image_id not in store.images:
        notes = [*notes, "The file does not have its image, so it got what its domain says today."]
    history = store.session_of_image(image_id)
    return Plan(row, outcome, reason, image_id, history, notes=notes), image_id


def _recreated(row: LegacyRow, store: Store, reason: Reason) -> tuple[Plan, str]:
    """Return the plan of a row on whose image nothing points; it ran on its domain's first one."""
    image_id = next(iter(store.images_of_container(container_of(row.domain_id))), "")
    made = read_time(store.images.get(image_id, {}).get("createdat"), datetime.now(UTC))
    if not image_id or (made and row.created_at and made > row.created_at):
        return Plan(row, Outcome.RECREATED, reason), ""
    note = f"Its messages are those of {image_id}, the first image of its domain: a guess."
    history = store.session_of_image(image_id)
    return Plan(row, Outcome.RECREATED, reason, history=history, notes=[note]), image_id


def container_of(domain_id: str) -> str:
    """Return the id of the container of a domain; rows may name either."""
    return domain_id if domain_id.startswith(CONTAINER) else f"{CONTAINER}{domain_id}"
