"""How the window of a history moves, and where it is cut: at whole turns, within limits. Pure."""

from collections.abc import Sequence

from backend.schemas.conversations.sessions import DisplayMessage, MessagePage
from colloquy_kit.messages.kinds import MessageType
from ui.state import PAGE_ROWS, WINDOW_ROWS, Window

MOST_CUT = PAGE_ROWS // 2  # longer turns are cut, so that a page always has something to show
MOST_KEPT = WINDOW_ROWS - PAGE_ROWS
FIRST = Window(after=0)


def cut_to_turns(page: MessagePage, window: Window, keep: int | None = None) -> MessagePage:
    """Return the page without incomplete turns at its ends, if those are short.

    A turn begins at a person's message. Ends that the window names are already between turns;
    `keep` is a position that must stay on the page.
    """
    items = page.items
    first, end = 0, len(items)
    if page.next_before is not None and window.after is None:
        starts = _starts(items, range(min(MOST_CUT, len(items))))
        first = next((i for i in starts if keep is None or items[i].position <= keep), 0)
    if page.next_after is not None and window.before is None:
        starts = _starts(items, range(max(first + 1, len(items) - MOST_CUT), len(items)))
        end = next((i for i in starts[::-1] if keep is None or items[i].position > keep), end)
    shown = items[first:end]
    return MessagePage(
        items=shown,
        next_before=shown[0].position if first else page.next_before,
        next_after=shown[-1].position if end < len(items) else page.next_after,
    )


def earlier(window: Window, page: MessagePage) -> Window:
    """Return the window with up to fifty earlier messages; a full one drops its latest."""
    if window.is_latest and window.limit < WINDOW_ROWS:
        return Window(window.limit + PAGE_ROWS)
    items = page.items
    end = len(items)
    if end > MOST_KEPT:
        starts = _starts(items, range(MOST_KEPT - MOST_CUT, MOST_KEPT + 1))
        end = starts[-1] if starts else MOST_KEPT
    before = items[end].position if end < len(items) else items[-1].position + 1
    return Window(end + PAGE_ROWS, before=before)


def later(page: MessagePage) -> Window:
    """Return the window with up to fifty later messages; a full one drops its earliest."""
    items = page.items
    first = 0
    if len(items) > MOST_KEPT:
        wanted = len(items) - MOST_KEPT
        starts = _starts(items, range(wanted, min(wanted + MOST_CUT, len(items))))
        first = starts[0] if starts else wanted
    return Window(len(items) - first + PAGE_ROWS, after=items[first].position - 1)


def around(page: MessagePage, message_count: int) -> Window:
    """Return the window that shows this page; one with the newest message follows new ones."""
    if not page.items or page.next_after is None:
        return latest(len(page.items), message_count)
    return Window(len(page.items), after=page.items[0].position - 1)


def latest(rows: int, message_count: int) -> Window:
    """Return the window of the latest messages that shows at least `rows` of them."""
    pages = -(-(rows - message_count % PAGE_ROWS) // PAGE_ROWS)
    return Window(min(max(pages, 1) * PAGE_ROWS, WINDOW_ROWS))


def _starts(items: Sequence[DisplayMessage], places: range) -> list[int]:
    """Return the places at which a turn begins."""
    return [place for place in places if items[place].message_type is MessageType.USER]
