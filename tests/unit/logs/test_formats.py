"""How records are written, as text and as JSON."""

import json
import logging
import sys
from collections.abc import Iterator
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.logs.fields import add_fields, known, only_fields
from backend.logs.formats import FORMATS

MOMENT = 1_790_000_000.0421
HEAD = "2026-09-21T14:13:20.042Z WARNING api desk.7 colloquy.tools: "


def write(form: str, message: str, *arguments: object, exc_info=None, **extra: object) -> str:
    logger = logging.getLogger("colloquy.tools")
    record = logger.makeRecord(
        logger.name, logging.WARNING, "file", 1, message, arguments, exc_info, None, extra
    )
    record.created = MOMENT
    return FORMATS[form]("api", "desk.7").format(record)


def failed() -> tuple:
    try:
        raise ValueError("first\n2026-09-21T14:13:20.042Z ERROR forged")
    except ValueError:
        return sys.exc_info()


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    with only_fields():
        yield


def test_a_line_of_text_says_when_what_and_where_and_all_that_was_passed():
    with only_fields(request="r1", person="ada"):
        line = write("text", "tool %s", "failed", tool="query sales", error="ValueError", tries=2)

    assert line == (
        HEAD + 'tool failed request=r1 person=ada tool="query sales" error=ValueError tries=2'
    )


def test_an_object_of_json_has_the_same_fields():
    with only_fields(request="r1", person="ada"):
        line = write("json", "tool %s", "failed", tool="query sales", error="ValueError", tries=2)

    assert json.loads(line) == {
        "time": "2026-09-21T14:13:20.042Z",
        "level": "WARNING",
        "process": "api",
        "instance": "desk.7",
        "logger": "colloquy.tools",
        "message": "tool failed",
        "request": "r1",
        "person": "ada",
        "tool": "query sales",
        "error": "ValueError",
        "tries": 2,
    }


def test_an_error_takes_along_what_was_known_where_it_was_raised():
    def work() -> None:
        with only_fields(turn="t", person="bob"):
            add_fields(session="s")
            raise ValueError

    with pytest.raises(ValueError) as raised, only_fields(session="of another"):
        work()

    with only_fields(person="ada", request="r"):
        record = json.loads(
            write(
                "json", "it failed", exc_info=(raised.type, raised.value, raised.tb), person="eve"
            )
        )
    found = {name: record.get(name) for name in ("turn", "session", "request", "person")}
    assert found == {"turn": "t", "session": "s", "request": "r", "person": "eve"}


def test_a_traceback_is_a_field_of_json_and_indented_lines_of_text():
    trace = json.loads(write("json", "it failed", exc_info=failed(), turn="t"))["traceback"]
    first, *others = write("text", "it failed", exc_info=failed(), turn="t").splitlines()

    assert trace.startswith("Traceback (most recent call last):\n")
    assert trace.endswith("ERROR forged")
    assert first == HEAD + "it failed turn=t"
    assert [line.removeprefix("  ") for line in others] == trace.splitlines()
    assert {line[:2] for line in others} == {"  "}


def test_a_traceback_that_a_library_has_put_into_its_message_is_one_as_well():
    message = "job failed\nTraceback (most recent call last):\n  File x\nValueError: y\n"

    written = json.loads(write("json", message))

    assert written["message"] == "job failed"
    assert written["traceback"].splitlines()[-1] == "ValueError: y"
    assert write("text", message).splitlines()[1:] == [
        "  Traceback (most recent call last):",
        "    File x",
        "  ValueError: y",
    ]


@pytest.mark.parametrize("form", FORMATS)
@given(message=st.text(), value=st.text(), name=st.text(min_size=1))
def test_whatever_is_said_is_one_line_that_no_terminal_obeys(form, message, value, name):
    line = write(form, "%s", message.replace("Traceback", ""), **{f"x{name}": value})

    assert line.isprintable()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.uuids(),
        lambda inner: st.lists(inner) | st.dictionaries(st.integers() | st.text(), inner),
    )
)
def test_whatever_is_passed_is_valid_json_and_text(value):
    def refuse(name: str) -> None:
        raise AssertionError(name)  # NaN and the like are no JSON

    assert "given" in json.loads(write("json", "m", given=value), parse_constant=refuse)
    assert " given=" in write("text", "m", given=value)


def test_a_field_with_the_name_of_one_of_ours_is_written_beside_it():
    written = json.loads(write("json", "m", level="high", time="noon", process_="x"))

    assert (written["level"], written["level_"]) == ("WARNING", "high")
    assert written["time_"] == "noon"


def test_what_a_record_says_of_its_turn_comes_before_what_is_known():
    with only_fields(turn="outer"):
        written = json.loads(write("json", "m", turn=UUID(int=1)))

    assert written["turn"] == str(UUID(int=1))


def test_fields_end_with_their_block_also_those_that_were_added_in_it():
    with only_fields(request="r1"):
        with only_fields(turn="t"):
            add_fields(session="s", person=None)
            inner = dict(known())
        outer = dict(known())

    assert inner == {"turn": "t", "session": "s"}
    assert outer == {"request": "r1"}
    assert known() == {}
