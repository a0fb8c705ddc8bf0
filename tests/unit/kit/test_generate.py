"""What the generator decides: answers, edits of people, code as formatters write it."""

import ast
import tomllib
from pathlib import Path

import pytest

from colloquy_kit.generate.answers import Answers, merge_answers, read_answers, write_answers
from colloquy_kit.generate.changes import merge
from colloquy_kit.generate.code import lay_out
from colloquy_kit.generate.errors import Refused
from colloquy_kit.generate.record import Record, dump_record, load_record

TARGET = {"target": "shop.talks", "scope": "shop.auth:Scope"}
OWNED = {**TARGET, "owner": "shop.models:Person"}
FOREIGN = """\
# the host's own words
[project]
name   =  "shop"  # odd

[tool.other]
x = [1,2,   3]
"""


def merged(**given):
    return merge_answers(given, None)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "Say which package"),
        ({"target": "shop.talks", "owner": "shop.models:Person"}, "--scope"),
        (TARGET, "Name the owner's model"),
        ({**TARGET, "owner_type": "team"}, "Name the owner's model"),
        ({**OWNED, "owner_type": "none"}, "exclude each other"),
        ({**TARGET, "owner_type": "none", "owner_field": "x"}, "exclude each other"),
        ({**TARGET, "owner_type": "none"}, "--base"),
        ({**OWNED, "owner_type": "robot"}, "--owner-type is one of"),
        ({**OWNED, "target": "shop-talks"}, "no name of a package"),
        ({**OWNED, "target": "shop.class"}, "no name of a package"),
        ({**OWNED, "scope": "shop.auth.Scope"}, "module:Class"),
        ({**OWNED, "owner_field": "user id"}, "no name for a column"),
        ({**OWNED, "owner_field": "class"}, "no name for a column"),
        ({**OWNED, "owner_field": "title"}, "another column"),
        ({**OWNED, "table_prefix": "1_"}, "no identifier"),
        ({**OWNED, "table_prefix": "a-b"}, "no identifier"),
        ({**OWNED, "table_prefix": "a" * 21}, "longer than"),
        ({**OWNED, "routes": "django"}, "--routes is one of"),
    ],
)
def test_answers_that_do_not_fit_are_refused_with_a_sentence(given, said):
    with pytest.raises(Refused) as refusal:
        merged(**given)

    assert said in str(refusal.value)
    assert str(refusal.value).endswith(".")


@pytest.mark.parametrize("kind", ["account", "team", "org"])
def test_the_owner_s_column_is_named_after_its_type(kind):
    assert merged(**OWNED, owner_type=kind).owner_field == f"{kind}_id"
    assert merged(**OWNED).owner_field == "user_id"


@pytest.mark.parametrize("text", ["", FOREIGN, FOREIGN.rstrip("\n"), FOREIGN + "\n\n"])
def test_answers_are_remembered_and_all_else_in_the_file_stays(text):
    answers = merged(**OWNED, table_prefix="a_")

    written = write_answers(text, "pyproject.toml", answers)

    assert written.startswith(text)
    assert read_answers(written, "pyproject.toml") == answers
    assert write_answers(written, "pyproject.toml", answers) == written


def test_a_changed_answer_changes_one_line():
    before = write_answers("", "x.toml", merged(**OWNED)) + "\n[tool.later]\ny = 1\n"
    answers = merge_answers({"routes": "fastapi"}, read_answers(before, "x.toml"))

    after = write_answers(before, "x.toml", answers)

    assert after == before.replace('routes = "none"', 'routes = "fastapi"')


@pytest.mark.parametrize("key", ["target", "owner", "owner_field", "table_prefix", "base"])
def test_an_answer_that_rows_depend_on_is_not_changed(key):
    with pytest.raises(Refused):
        merge_answers({key: "shop.other"}, Answers(**OWNED, owner_type="user"))


@pytest.mark.parametrize(
    "text", ["[tool.colloquy]\nowmer = 'x'", "[tool.colloquy]\nowner = 1", "[tool.colloquy"]
)
def test_answers_that_cannot_be_read_are_refused(text):
    with pytest.raises(Refused, match=r"x\.toml"):
        read_answers(text, "x.toml")


def test_edits_and_news_in_different_places_are_both_kept():
    base = "".join(f"line {n}\n" for n in range(9))

    text, conflicts = merge(
        base.replace("line 1", "mine"), base, base.replace("line 7", "generated")
    )

    assert (text, conflicts) == (
        base.replace("line 1", "mine").replace("line 7", "generated"),
        0,
    )


def test_edits_and_news_in_one_place_are_marked():
    text, conflicts = merge("a\nmine\n", "a\nb\n", "a\ngenerated\n")

    assert conflicts == 1
    assert text == "a\n<<<<<<< edited\nmine\n=======\ngenerated\n>>>>>>> generated\n"


def test_a_record_that_was_edited_is_refused():
    text = dump_record(Record({"a.py": "x = 1\ny = 'ü'"}, {"t": {"column a": "b"}}, {"1": "p"}))

    assert load_record(text) == Record(
        {"a.py": "x = 1\ny = 'ü'"}, {"t": {"column a": "b"}}, {"1": "p"}
    )
    for damaged in (text.replace("x = 1", "x = 2"), text[:-9], "[]", "{}", '{"format": 2}'):
        with pytest.raises(Refused):
            load_record(damaged)


def test_code_is_laid_out_as_ruff_does():
    code = "f('a', [1, 2], b=c.d(e='" + "x" * 75 + "'))"

    assert lay_out(ast.parse(code, mode="eval").body) == (
        'f(\n    "a",\n    [1, 2],\n    b=c.d(\n        e="' + "x" * 75 + '"\n    ),\n)'
    )


def test_the_distribution_has_the_templates():
    kit = Path(__file__).parents[3] / "kit"
    told = tomllib.loads((kit / "pyproject.toml").read_text())
    packed = told["tool"]["setuptools"]["package-data"]["colloquy_kit"]
    templates = kit / "colloquy_kit/generate/templates"

    found = {path for pattern in packed for path in (kit / "colloquy_kit").glob(pattern)}
    assert set(templates.iterdir()) <= found
    assert len(list(templates.iterdir())) > 5
