"""Folds the finished steps of a turn into one line, except what a person must not miss."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

import streamlit as st

from colloquy_kit.messages.kinds import ContentType, MessageStatus
from ui.features.chat.messages import renderers
from ui.features.chat.messages.blocks import Block, seconds_taken
from ui.features.chat.messages.renderers import BlockContext
from ui.features.plans.matching import PLAN_TOOLS
from ui.shared.formats import reader
from ui.shared.text.markdown import plain

FEWEST = 2  # a single step is a line by itself
MOST_NAMES = 3


@dataclass(frozen=True)
class Fold:
    """The steps of one turn that are drawn folded."""

    blocks: Sequence[Block]

    @property
    def label(self) -> str:
        """Worked 14 s · 3 tools: query_source, get_budget."""
        calls = [block for block in self.blocks if _is_call(block)]
        if not calls:
            return "Thinking"
        seconds = [taken for call in calls if (taken := seconds_taken(call)) is not None]
        worked = f"Worked {reader.duration(sum(seconds))}" if seconds else "Worked"
        names = dict.fromkeys(plain(str(call.row.content.get("name")), 40) for call in calls)
        listed = ", ".join(list(names)[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
        tools = "1 tool" if len(calls) == 1 else f"{len(calls)} tools"
        return f"{worked} · {tools}: {listed}"


def show(blocks: Sequence[Block], draw: Callable[[Block], None], context: BlockContext) -> None:
    """Draw one speaker's blocks, the finished steps of each turn folded where they begin."""
    for part in fold(blocks):
        if isinstance(part, Block):
            draw(part)
        elif part.label == "Thinking":
            renderers.thinking([block.row for block in part.blocks], context)
        else:
            key = f"steps-{context.key(part.blocks[0].row)}"
            with st.expander(part.label, type="compact", icon=":material/construction:", key=key):
                for block in part.blocks:
                    draw(block)


def fold(blocks: Sequence[Block]) -> Iterator[Block | Fold]:
    """Yield the blocks in order, with a turn's foldable blocks together at the first of them."""
    by_turn: dict[UUID | None, list[Block]] = {}
    for block in blocks:
        if can_fold(block):
            by_turn.setdefault(block.row.turn_id, []).append(block)
    for block in blocks:
        together = by_turn.get(block.row.turn_id, []) if can_fold(block) else []
        if len(together) < FEWEST:
            yield block
        elif block is together[0]:
            yield Fold(together)


def can_fold(block: Block) -> bool:
    """Return whether a block is a successful step: thinking, or a call without approval."""
    row, result = block.row, block.result
    if row.content_type is ContentType.THINKING:
        return row.status is MessageStatus.COMPLETED
    if str(row.content.get("name")) in PLAN_TOOLS:
        return False  # its tasks are drawn
    if not _is_call(block) or block.asked is not None or result is None:
        return False
    is_chart = isinstance(table := result.metadata.get("table"), dict) and "chart" in table
    is_well = row.status is MessageStatus.COMPLETED and not result.content.get("is_error")
    return is_well and not is_chart


def _is_call(block: Block) -> bool:
    return block.row.content_type is ContentType.TOOL_CALL
