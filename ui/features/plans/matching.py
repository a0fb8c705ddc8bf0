"""Finds the plan that each call of a turn has started. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from backend.schemas.tasks import Plan

RUN_PLAN, CALL_AGENT = "run_plan", "call_agent"
PLAN_TOOLS: Mapping[str, str] = {RUN_PLAN: "plan", CALL_AGENT: "sub_agent"}


@dataclass(frozen=True)
class Call:
    """A call that starts a plan; `row_id` is its display message's."""

    row_id: UUID
    turn_id: UUID | None
    name: str
    call_id: str
    is_error: bool = False


def match_plans(calls: Sequence[Call], plans: Sequence[Plan]) -> dict[UUID, Plan]:
    """Return the plan of each call, by row: the plan that names the call.

    A model may give several calls of a turn the same id. These are matched with plans in order, and
    refused calls, which started no plan, come last.
    """
    left: defaultdict[object, list[Plan]] = defaultdict(list)
    for plan in plans:
        left[plan.turn_id, plan.call_id, plan.kind].append(plan)
    found: dict[UUID, Plan] = {}
    for call in sorted(calls, key=lambda call: call.is_error):
        if of_call := left[call.turn_id, call.call_id, PLAN_TOOLS[call.name]]:
            found[call.row_id] = of_call.pop(0)
    return found
