"""A turn's todos on the chat page: the newest list only, ticked off."""

from colloquy_kit.messages.kinds import ContentType, MessageType
from tests.ui.seen import words


def test_the_newest_list_of_todos_is_drawn_once_with_what_is_done(open_page, store):
    session = store.add_session()
    turn = store.add_turn(session, "Compare them")
    store.start(turn)
    for statuses in (("in_progress", "pending"), ("completed", "in_progress")):
        names = ("Look *into* it", "Tell the result")
        todos = [
            {"content": name, "status": status}
            for name, status in zip(names, statuses, strict=True)
        ]
        store.add_row(session, MessageType.TOOL, ContentType.TODOS, {"todos": todos}, turn)
    store.finish(turn)

    page = open_page(session=session.id)

    assert not page.exception
    read = words(page)
    assert "1 of 2 done" in read
    assert "0 of 2 done" not in read
    assert read.count("Tell the result") == 1
    (shown,) = [element.value for element in page.markdown if "Tell the result" in element.value]
    marks = [line.split(" ")[0] for line in shown.splitlines()]
    assert marks == [":material/check_circle:", ":material/pending:"]
