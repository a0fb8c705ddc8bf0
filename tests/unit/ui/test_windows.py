"""The window of a history: it moves by whole turns, within bounds, and comes to both ends."""

from collections.abc import Sequence
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from backend.schemas.conversations.sessions import DisplayMessage, MessagePage
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from ui.features.chat import windows
from ui.state import PAGE_ROWS, WINDOW_ROWS, Window


def history(turns: Sequence[int]) -> list[DisplayMessage]:
    """Turns of so many rows each, a person's message first."""
    kinds = [
        MessageType.ASSISTANT if row else MessageType.USER for rows in turns for row in range(rows)
    ]
    return [
        DisplayMessage(
            id=uuid4(), position=place, message_type=kind, content_type=ContentType.TEXT,
            content={"text": str(place)}, sequence=0, status=MessageStatus.COMPLETED, agent=None,
            turn_id=None, created_at=datetime.now(UTC), metadata={},
        )
        for place, kind in enumerate(kinds, 1)
    ]  # fmt: skip


def page_of(rows: list[DisplayMessage], first: int, last: int) -> MessagePage:
    """The rows from a place to before another, as the API gives them."""
    items = rows[first:last]
    return MessagePage(
        items=items,
        next_before=items[0].position if first > 0 else None,
        next_after=items[-1].position if last < len(rows) else None,
    )


def load(rows: list[DisplayMessage], window: Window) -> MessagePage:
    """What the page shows of a window."""
    count = len(rows)
    limit = window.rows(count) + (window.after is not None)
    first = window.after if window.after is not None else None
    if first is None:
        last = count if window.before is None else window.before - 1
        page = page_of(rows, max(last - limit, 0), last)
    else:
        page = page_of(rows, first, min(first + limit, count))
    return windows.cut_to_turns(page, window)


def begins_turns(page: MessagePage) -> bool:
    return page.items[0].message_type is MessageType.USER


@pytest.mark.parametrize("turn", [1, 2, 7, 20])
def test_the_way_up_and_down_again_shows_all_in_whole_turns(turn: int) -> None:
    rows = history([turn] * (700 // turn))
    window, seen = Window(), set[int]()
    page = load(rows, window)
    while page.next_before is not None:
        assert begins_turns(page)
        window = windows.earlier(window, page)
        before, page = page, load(rows, window)
        # What was at the top is still there, so that it can keep its place.
        assert before.items[0].position in {row.position for row in page.items}
        assert page.items[0].position < before.items[0].position
    for _ in range(100):
        assert begins_turns(page) and len(page.items) <= WINDOW_ROWS + PAGE_ROWS
        seen |= {row.position for row in page.items}
        if page.next_after is None:
            break
        assert page.next_after % turn == 0
        window = windows.later(page)
        before, page = page, load(rows, window)
        assert before.items[-1].position in {row.position for row in page.items}
        assert page.items[-1].position > before.items[-1].position

    assert seen == set(range(1, len(rows) + 1))
    assert windows.latest(len(page.items), len(rows)).is_latest


def test_a_turn_longer_than_a_page_is_shown_in_parts() -> None:
    rows = history([3, 400, 3])

    window = Window()
    page = load(rows, window)
    reached = [page.items[0].position]
    while page.next_before is not None:
        window = windows.earlier(window, page)
        page = load(rows, window)
        reached.append(page.items[0].position)

    assert reached == sorted(reached, reverse=True) and reached[-1] == 1


@pytest.mark.parametrize("position", [1, 2, 100, 151, 299, 300])
def test_a_window_around_a_position_has_it_and_ends_between_turns(position: int) -> None:
    rows = history([4] * 75)
    first = min(max(position - 1 - PAGE_ROWS // 2, 0), len(rows) - PAGE_ROWS)
    found = page_of(rows, first, first + PAGE_ROWS)

    page = windows.cut_to_turns(found, Window(), keep=position)
    window = windows.around(page, len(rows))
    shown = load(rows, window)

    positions = [row.position for row in shown.items]
    assert position in positions and begins_turns(shown)
    assert positions[-1] % 4 == 0
    assert window.is_latest == (positions[-1] == 300)
