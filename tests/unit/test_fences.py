"""JSON in fences is found wherever models put it, and no answer holds up its reader."""

import pytest
from langchain_core.messages import AIMessage

from backend.agents.team.response import read_response
from backend.planning.results import make_output
from tests.patience import ends_within

MANY = 1_000_000
ANSWER = '{"taskComplete": true}'
READ = [
    f"```json\n{ANSWER}\n```",
    f"```\n{ANSWER}\n```",
    f"```json  \n\n \n{ANSWER}  \n\n```",
    f"\n ```json\n\t{ANSWER}\n```\n",
    f"```json\r\n{ANSWER}\r\n```",
    ANSWER,
]
HOSTILE = {
    "line ends between fences": "a```" + "\n" * MANY + "b",
    "a fence that stays open": "```" + "\n" * MANY + "x",
    "line ends in a fence": "```\n{" + "\n" * MANY + "}x```",
    "blanks after a line": "```\n" + " " * MANY + "x",
    "blanks in an opening": "```json" + " " * MANY + "x\n```",
    "lines of blanks": "```" + " \n" * (MANY // 2) + "x",
    "backticks": "`" * MANY,
    "backticks, then a line": "`" * MANY + "\nx",
    "openings": "```\n" * (MANY // 4),
    "openings with blanks": "``` \n\n" * (MANY // 6) + "x",
}


def is_complete(text: str) -> bool:
    """Return whether a manager's answer is read as a completed task."""
    response = read_response(AIMessage(text))
    return response is not None and response.task_complete


@pytest.mark.parametrize("text", READ)
def test_a_fenced_object_is_read_by_managers_and_plans(text: str) -> None:
    assert is_complete(text)
    assert make_output(text, None, [])["taskComplete"] is True


def test_a_manager_may_write_around_its_object() -> None:
    assert is_complete(f"Look: ```py x```, then ```json\n{ANSWER}```. Done.")
    assert is_complete(f"```\nno object\n```\n```\n{ANSWER}\n```")
    assert not is_complete("```\nno object\n```\n" * 3 + f"```\n{ANSWER}\n```")
    assert not is_complete(f"```json\n{ANSWER}")


def test_a_plan_reads_an_object_only_if_it_is_the_whole_answer() -> None:
    assert make_output(f"Look:\n```\n{ANSWER}\n```", None, []).keys() == {"text"}
    assert make_output(f"```\n{ANSWER}\n```\nDone.", None, []).keys() == {"text"}
    fence_within = '```json\n{"total": "```7```"}\n```'
    assert make_output(fence_within, None, [])["total"] == "```7```"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_answer_holds_up_its_reader(text: str) -> None:
    with ends_within(2):
        assert read_response(AIMessage(text)) is None
        assert "taskComplete" not in make_output(text, None, [])
