"""What the conversation makes of calls that wait, of plans and of routes, in Node."""

import shutil
from itertools import pairwise
from typing import Any

import pytest

from tests.unit.ui.test_conversation_rules import in_node, modules

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")


def ask(module: str, expression: str, **given: Any) -> Any:
    """Return what an expression over a module's exports, as `its`, and `given` is."""
    name = module.rpartition("/")[2]
    script = modules(module).replace(f"const {module} ", f"const {name} ")
    return in_node(
        f"{script}const its = {name};\nconsole.log(JSON.stringify({expression}));", given
    )


SCHEMA = {
    "properties": {
        "to": {"type": "string"},
        "amount": {"type": "integer"},
        "rate": {"anyOf": [{"type": "number"}, {"type": "null"}]},
        "urgent": {"type": "boolean"},
        "by": {"enum": ["mail", "post"]},
    },
    "required": ["to", "rate"],
}
GIVEN = {"to": "ann", "rate": None, "by": "mail"}
WRITE = "its.readFields(its.fieldsOf(given.given, given.schema), given.texts)"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({}, GIVEN),
        ({"to": "", "amount": "12"}, {**GIVEN, "to": "", "amount": 12}),
        ({"urgent": "true"}, {**GIVEN, "urgent": True}),
        ({"amount": "", "rate": "1.5", "by": ""}, {"to": "ann", "rate": 1.5}),
        ({"amount": "+007", "rate": ""}, {**GIVEN, "amount": 7}),
    ],
)  # fmt: skip
def test_what_is_written_in_fields_becomes_arguments(texts, expected):
    read = ask("acts/fields", WRITE, given=GIVEN, schema=SCHEMA, texts=texts)

    assert read == {"given": expected, "errors": {}}


def test_a_field_says_what_it_cannot_read():
    texts = {"amount": "a few", "rate": "much"}

    errors = ask("acts/fields", WRITE, given=GIVEN, schema=SCHEMA, texts=texts)["errors"]

    assert errors == {
        "amount": "Enter a whole number, such as 12.",
        "rate": "Enter a number, such as 12.5.",
    }


def test_a_large_whole_number_stays_exact():
    schema = {"properties": {"n": {"type": "integer"}}}
    read = f"(JSON.rawJSON ??= (text) => ({{ text }}), {WRITE}.given.n)"
    n = ask("acts/fields", read, given={"n": "12345678901234567890"}, schema=schema, texts={})

    assert n in ({"text": "12345678901234567890"}, 12345678901234567890)  # as Node is old or new


@pytest.mark.parametrize(
    ("given", "schema"),
    [
        ({}, {}),
        ({"other": 1}, SCHEMA),
        ({"to": 1}, SCHEMA),
        ({"to": "ann", "by": "hand"}, SCHEMA),
        ({}, {"properties": {"rows": {"type": "array"}}}),
        ({}, {"properties": {f"p{n}": {"type": "string"} for n in range(13)}}),
    ],
)
def test_arguments_that_are_no_simple_fields_are_edited_as_json(given, schema):
    assert (
        ask("acts/fields", "its.fieldsOf(given.given, given.schema)", given=given, schema=schema)
        is None
    )


@pytest.mark.parametrize("text", ["", "[1]", "null", "{", '"x"'])
def test_json_that_is_no_arguments_is_refused(text):
    assert ask("acts/fields", "its.readJson(given.text)", text=text)["errors"]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "expires within a minute"), (59, "expires within a minute"), (60, "expires in 1 min"),
        (3599, "expires in 59 min"), (7200, "expires in 2 h"), (172_800, "expires in 2 days"),
    ],
)  # fmt: skip
def test_the_time_left_changes_its_words_in_time(seconds, words):
    at = "new Date(given.seconds * 1000).toISOString()"
    later = f"its.wordsHold({at}, 0) * 1000"

    said = ask(
        "acts/calls", f"[its.expiryWords({at}, 0), its.expiryWords({at}, {later})]", seconds=seconds
    )

    assert said[0] == words
    assert seconds < 60 or said[1] != words


def task(temp_id: str, *before: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": temp_id, "temp_id": temp_id, "agent": "Reconciler", "depends_on": list(before),
        "status": "pending", "tries": 1, "steps": 0, "started_at": None, "finished_at": None,
    } | fields  # fmt: skip


LAID = """(({ places, ...rest }) => ({ places: Object.fromEntries(places), ...rest }))(
  its.layOut(given.tasks))"""


def test_no_two_tasks_overlap_and_each_stands_right_of_all_that_it_depends_on():
    tasks = [task("root"), *(task(f"t{n}", "root") for n in range(50))]
    tasks += [task(f"u{n}", f"t{n % 50}") for n in range(149)]

    picture = ask("acts/plans", LAID, tasks=tasks)

    places, columns = picture["places"], {}
    for one in tasks:
        x, y = places[one["temp_id"]]["x"], places[one["temp_id"]]["y"]
        columns.setdefault(x, []).append(y)
        assert all(places[before]["x"] + 160 < x for before in one["depends_on"])
        assert x + 160 < picture["width"]
        assert y + 74 < picture["height"]
    assert len(places) == 200
    assert len(picture["lines"]) == 199
    assert all(low + 74 < high for ys in columns.values() for low, high in pairwise(sorted(ys)))


@pytest.mark.parametrize(
    "tasks", [[], [task("a", "a")], [task("a", "b"), task("b", "a")], [task("a", "unknown")]]
)
def test_what_no_plan_may_be_is_drawn_all_the_same(tasks):
    assert len(ask("acts/plans", LAID, tasks=tasks)["places"]) == len(tasks)


def test_a_plan_and_a_task_say_how_far_they_are():
    asks = task("b", status="asking")
    waits = task("d", status="running", waiting_for_approval=True)
    tasks = [task("a", status="succeeded"), asks, task("c"), waits]
    running = task("a", status="running", steps=3, tries=2, started_at="2026-11-23T05:00:00Z")
    now = "Date.parse('2026-11-23T05:00:12Z')"

    assert ask("acts/plans", "its.planWords(given)", tasks=tasks) == (
        "1 of 4 tasks done · 1 waiting · 1 asks you · 1 needs approval"
    )
    said = ask("acts/plans", f"its.taskWords(given.task, (s) => `${{s}} s`, {now})", task=running)
    assert said == "Reconciler · running · step 3 · try 2 · 12 s"


def test_each_call_has_the_plan_that_it_started_and_refused_ones_have_none():
    def call(row: str, call_id: str, name: str = "run_plan", *, is_error: bool = False) -> Any:
        content = {"name": name, "call_id": call_id}
        row_of = {"id": row, "turn_id": "t", "content_type": "tool_call", "content": content}
        return {"row": row_of, "result": {"content": {"is_error": is_error}}, "asked": None}

    def plan(name: str, call_id: str, kind: str = "plan", turn: str = "t") -> Any:
        return {"name": name, "turn_id": turn, "call_id": call_id, "kind": kind}

    blocks = [call("0", "1", is_error=True), call("1", "2"), call("2", "1"),
              call("3", "3", "call_agent"), call("4", "1")]  # fmt: skip
    plans = [plan("elsewhere", "2", turn="u"), plan("first", "1"), plan("second", "2"),
             plan("agent", "3", "sub_agent"), plan("alike", "1")]  # fmt: skip

    match = "[...its.matchPlans(given.blocks, given.plans)].map(([row, { name }]) => [row, name])"

    found = ask("acts/plans", match, blocks=blocks, plans=plans)

    assert dict(found) == {"1": "second", "2": "first", "3": "agent", "4": "alike"}


def test_the_reason_of_a_route_is_told_once_in_a_turn_beside_its_own_agent():
    def group(row: str, agent: str | None, turn: str) -> Any:
        return {"agent": agent, "blocks": [{"row": {"id": row, "turn_id": turn}}]}

    groups = [group("1", None, "t"), group("2", "A", "t"), group("3", "B", "t"),
              group("4", "A", "t"), group("5", "B", "u")]  # fmt: skip
    turns = [
        ["t", {"agent": "A", "route": {"reason": "mention"}}],
        ["u", {"agent": "A", "route": {}}],
    ]

    found = ask("acts/words", "[...its.routesOf(given.groups, new Map(given.turns)).keys()]",
                groups=groups, turns=turns)  # fmt: skip

    assert found == ["2"]


@pytest.mark.parametrize(
    ("route", "short", "sentence"),
    [
        ({"reason": "mention"}, "mentioned", "The message mentions A."),
        ({"reason": "handed_over"}, "by Sage", "Sage handed the turn to A."),
        (
            {"reason": "manager", "candidate": "B", "answer": "NO", "detail": "It is new.",
             "usage": {"input_tokens": 1200, "output_tokens": 34}},
            "manager",
            "The message does not continue with B, so A took it. It is new."
            " Asking a model about it took 1,234 tokens.",
        ),
    ],
)  # fmt: skip
def test_a_route_says_why_in_a_word_and_in_a_sentence(route, short, sentence):
    said = """[its.shortReason(given.route, "Sage"),
      its.reasonSentence(given.route, "A", "Sage", new formats.Reader("en"))]"""
    script = modules("formats")
    both = in_node(
        script + modules("acts/words").replace("const acts/words", "const its")
        + f"console.log(JSON.stringify({said}));", {"route": route},
    )  # fmt: skip

    assert both == [short, sentence]
