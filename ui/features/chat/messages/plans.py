"""The plan that each call of a session started."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from backend.schemas.tasks import Plan
from colloquy_kit.messages.kinds import ContentType
from ui import state
from ui.client import ClientError
from ui.features.chat.messages.blocks import Block
from ui.features.plans import calls
from ui.features.plans.matching import PLAN_TOOLS, Call, match_plans
from ui.shared import last_known


def plans_of(session_id: UUID, blocks: Sequence[Block]) -> Mapping[UUID, Plan]:
    """Return the plans by the display messages of their calls; read only if there is such a call.

    Without plans, the calls are drawn like those of other tools.
    """
    found = [call for block in blocks if (call := _call(block)) is not None]
    if not found:
        return {}
    try:
        listed = last_known.read(
            ("plans", session_id), calls.list_plans, state.client(), session_id
        )
    except ClientError:
        return {}
    return match_plans(found, listed.items)


def _call(block: Block) -> Call | None:
    row = block.row
    name = str(row.content.get("name"))
    if row.content_type is not ContentType.TOOL_CALL or name not in PLAN_TOOLS:
        return None
    is_error = block.result is not None and bool(block.result.content.get("is_error"))
    return Call(row.id, row.turn_id, name, str(row.content.get("call_id")), is_error)
