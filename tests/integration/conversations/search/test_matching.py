"""Words, phrases and codes that people saw are found, with their places, and nothing else is."""

from uuid import uuid4

from tests.fakes import ScriptedModel, script
from tests.integration.conversations.search.spoken import found, say, search, texts_of
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack


def test_words_phrases_codes_and_beginnings_are_found(stack: Stack) -> None:
    session_id = make_session(stack)
    say(
        stack,
        session_id,
        *texts_of(
            "What is the budget of CC-1001?",
            "Die GRÖSSE des Budgets für Überstunden: „naïve“ Schätzung 1.200,50 EUR",
            "CC 2002 and 1001 separately, the budget is large",
            "日本語 text, a_b and <b>bold</b>",
            "売上高は増加しました。第二四半期の東京支店。北京销售额下降。Q3売上は良い。",
            "café naïve Straße \ufb01nancial \uff21\uff22\uff23 ｶﾞｽ ｱ ผู้ใช้ทดสอบระบบ 매출은 늘었다",
        ),
    )

    wanted = {
        "budget": [1, 2, 3],
        "budget of": [1],
        "of budget": [1],
        "CC-1001": [1],
        "cc": [1, 3],
        "1001": [1, 3],
        '"budget of CC-1001"': [1],
        '"of budget"': [],
        "größe": [2],
        "grösse": [2],
        "ÜBERSTUNDEN schätz": [2],
        "schätz überstunden": [],  # only the last word may go on
        "„schätzung 1.200“": [2],
        '"schätz"': [],
        "naïve": [2, 6],
        "b": [4],  # a single letter is a word, not a beginning
        "日本": [4],
        "東京": [5],
        "四半期": [5],
        '"四半期の東京"': [5],
        "支店": [5],
        "店": [5],
        "销售": [5],
        "京": [5],
        "東京 销售 増加": [5],
        "q3 売上は": [5],
        "東期": [],
        "京東": [],
        "支店北": [],
        '"支店 北京"': [5],
        "cafe": [6],
        "strasse": [6],
        "financial": [6],
        "\ufb01nan": [6],
        "abc": [6],
        "ガス": [6],
        "ｶﾞｽ": [6],
        "ทดสอบ": [6],
        "매출": [6],
        '"budget': [1, 3],
    }
    assert {q: found(stack, session_id, q) for q in wanted} == wanted


def test_what_people_see_is_searched_and_thinking_is_not(stack: Stack) -> None:
    session_id = make_session(stack)
    call = {"call_id": "kiwi1", "name": "query_source", "arguments": {"sql": ["SELECT\napple", 42]}}
    result = {"tool_call_id": "kiwi1", "name": "query_source", "content": "banana | 7"}
    say(
        stack,
        session_id,
        ("assistant", "thinking", {"text": "secret kiwi1"}),
        ("assistant", "tool_call", call),
        ("tool", "tool_result", {**result, "is_error": False}),
        ("system", "notice", {"text": "cherry"}),
        ("system", "error", {"title": "damson", "detail": "elder"}),
        ("tool", "todos", {"todos": [{"content": "fig", "status": "pending"}]}),
        ("tool", "file", {"name": "grape.pdf", "mime_type": "x", "bytes": 1}),
        ("assistant", "text", {"text": "x " * 7_990 + "honey " + "y" * 20 + " lemon"}),
        ("tool", "todos", {"todos": "not a list"}),
        ("assistant", "tool_call", {"call_id": "1", "name": None, "arguments": "mango {"}),
    )

    wanted = {
        "kiwi1": [],
        "apple": [2],
        "42": [2],
        '"query source"': [2, 3],
        "banana": [3],
        "cherry": [4],
        "damson elder": [5],
        "fig": [6],
        "grape": [7],
        "honey": [8],
        "lemon": [],  # beyond what is searched of one message
        "mango": [10],
    }
    assert {q: found(stack, session_id, q) for q in wanted} == wanted


def test_a_hit_says_where_it_is_and_marks_the_words(stack: Stack, model: ScriptedModel) -> None:
    model.steps = lambda messages, body: {"text": "The answer is <b>Zebra-77</b>, said plainly."}
    word = f"w{uuid4().hex}"
    said = stack.chat(f"{'before ' * 30}about {word} and zebra 77 {'after ' * 60}")

    (hit,) = search(stack, word[:20])["items"]
    (answer,) = search(stack, "zebra-77", session_id=said["session_id"], limit=1)["items"]

    rows = {row["id"]: row for row in stack.messages(said["session_id"])}
    assert hit["session_id"] == said["session_id"]
    assert hit["turn_id"] == said["turn_id"]
    assert hit["position"] == rows[hit["message_id"]]["position"]
    assert (hit["message_type"], hit["is_on_branch"]) == ("user", True)
    line = "".join(part["text"] for part in hit["snippet"])
    assert line.startswith("…before") and line.endswith("…") and len(line) < 300
    assert [part["text"] for part in hit["snippet"] if part["is_hit"]] == [word]
    assert (answer["message_type"], answer["agent"]) == ("assistant", said["agent"])
    marked = [(part["text"], part["is_hit"]) for part in answer["snippet"]]
    assert marked == [
        ("The answer is <b>", False),
        ("Zebra-77", True),
        ("</b>, said plainly.", False),
    ]


def test_links_to_artifacts_are_shown_as_their_titles(stack: Stack) -> None:
    session_id, word = make_session(stack), f"w{uuid4().hex}"
    address = f"artifact:{uuid4()}@1"
    told = (
        f"**[Cash {word}]({address})** has [9 (EUR)]({address}#row=3&column=Sum (EUR)), as {word}"
    )
    picture = f"![Chart of {word}]({address}) and `a[0](b)` and [a site](https://example.com)"
    say(stack, session_id, *texts_of(told, picture))

    shown, first = search(stack, word, session_id=session_id)["items"]

    assert "".join(part["text"] for part in first["snippet"]) == (
        f"**Cash {word}** has 9 (EUR), as {word}"
    )
    assert [part["text"] for part in first["snippet"] if part["is_hit"]] == [word] * 2
    assert "".join(part["text"] for part in shown["snippet"]) == (
        f"Chart of {word} and `a[0](b)` and [a site](https://example.com)"
    )


def test_what_is_on_another_branch_is_found_and_says_so(stack: Stack, model: ScriptedModel) -> None:
    model.steps = lambda messages, body: {"text": f"heard {messages[-1]['content']}"}
    first, second = f"w{uuid4().hex}", f"w{uuid4().hex}"
    session_id = make_session(stack, make_domain(stack, middleware=[])["name"])
    turn_id = stack.chat(first, session_id)["turn_id"]
    edited = stack.client.post(f"/turns/{turn_id}/edit", json={"message": second}).json()
    stack.finished(edited["id"])

    left, shown = search(stack, first)["items"], search(stack, second)["items"]
    stack.client.post(f"/sessions/{session_id}/branch", json={"turn_id": left[0]["turn_id"]})
    again = search(stack, first)["items"]

    assert [hit["is_on_branch"] for hit in left] == [False, False]
    assert [hit["is_on_branch"] for hit in shown] == [True, True]
    assert [hit["is_on_branch"] for hit in again] == [True, True]


def test_a_deleted_session_is_not_found_and_leaves_no_entry(stack: Stack) -> None:
    word = f"w{uuid4().hex}"
    said = stack.chat(script({"text": word}))
    count = "SELECT count(*) FROM search_entries WHERE conversation_id = CAST(:id AS uuid)"
    assert search(stack, word)["items"]
    assert stack.query(count, id=said["session_id"])[0][0]

    stack.client.delete(f"/sessions/{said['session_id']}")

    assert search(stack, word)["items"] == []
    assert stack.query(count, id=said["session_id"])[0][0] == 0


def test_a_session_that_goes_on_in_a_new_one_is_found_in_both(stack: Stack) -> None:
    word = f"w{uuid4().hex}"
    said = stack.chat(script({"text": word}))

    made = stack.client.post(f"/sessions/{said['session_id']}/continue").json()

    sessions = {hit["session_id"] for hit in search(stack, word)["items"]}
    assert sessions == {said["session_id"], made["id"]}
