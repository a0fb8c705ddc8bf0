"""The component's formats and pieces of text, in Node: they agree with those of the pages."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from backend.tabular.cells import cell_writers
from backend.tabular.columns import described
from backend.tabular.locales import write_day, write_number
from ui.shared.formats.times import duration
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import split_pieces
from ui.shared.text.markup import is_too_much

FOLDER = Path(__file__).parent.parent.parent.parent / "ui" / "assets" / "conversation"
pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
NUMBERS = (0, 7, 1234.5, -1234567.891, 0.1, 2024, 12_345_678)
LOCALES = ("en-US", "de-DE", "de-CH", "fr-FR", "en-IN", "es-ES", "pl-PL")


def in_node(script: str, given: Any) -> Any:
    """Return what a script makes of `given`; it may import the component's modules."""
    text = f"const given = {json.dumps(given)};\n{script}"
    ran = subprocess.run(
        ["node", "--input-type=module", "-"], input=text, cwd=FOLDER, text=True,
        capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def modules(*names: str) -> str:
    return "".join(
        f"const {name} = await import({json.dumps((FOLDER / name).as_uri() + '.js')});\n"
        for name in names
    )


@pytest.mark.parametrize("locale", LOCALES)
def test_numbers_and_days_are_written_alike(locale):
    days = ["2026-11-28", "2024-01-02", "no day"]
    seconds = [0.4, 3, 12, 185, 7800]
    script = modules("formats") + """
      const reader = new formats.Reader(given.locale, "UTC");
      console.log(JSON.stringify([
        given.numbers.map((one) => [reader.number(one), reader.number(one, { isGrouped: false }),
          reader.number(one, { decimals: 2 })]),
        given.days.map((one) => reader.day(one)),
        given.seconds.map((one) => reader.duration(one)),
      ]));
    """  # fmt: skip

    numbers, dates, took = in_node(
        script, {"locale": locale, "numbers": NUMBERS, "days": days, "seconds": seconds}
    )

    # Versions of CLDR differ in the apostrophe.
    assert [[text.replace("'", "\u2019") for text in one] for one in numbers] == [
        [write_number(n, locale), write_number(n, locale, is_grouped=False),
         write_number(n, locale, 2)] for n in NUMBERS
    ]  # fmt: skip
    assert dates == [write_day(day, locale) for day in days]
    assert took == [duration(one, locale) for one in seconds]


COLUMNS: list[dict[str, Any]] = [
    {"name": name, "type": kind, "format": form}
    for name, kind, form in (
        ("spent", "DOUBLE", ""), ("year", "INTEGER", ""), ("ratio", "DOUBLE", ""),
        ("a", "DOUBLE", "0.0%"), ("b", "DOUBLE", "#,##0.00 [$€-407]"), ("c", "DOUBLE", '"$"#,##0'),
        ("d", "DOUBLE", '#,##0.0" kg"'), ("e", "DOUBLE", "[$CHF] #,##0.00"), ("f", "INTEGER", "0"),
        ("g", "DOUBLE", '0.0"%"'), ("h", "VARCHAR", ""), ("i", "DATE", ""), ("j", "TIMESTAMP", ""),
    )
]  # fmt: skip


@pytest.mark.parametrize("locale", LOCALES)
def test_cells_are_written_as_the_api_says_of_their_columns(locale):
    numbers = [0, -0.001, 2024, 1234567.891, -1234.5, 0.125, 0.0725, 7.0, 12_345_678]
    texts = ["2026-11-28", "2026-11-28T14:05:00", "2026-11-28 14:05", "no day", None]
    columns = described({"columns": COLUMNS})["columns"]
    values: list[list[Any]] = [
        texts if column["kind"] in ("text", "date", "moment") else numbers for column in columns
    ]
    script = modules("formats") + """
      const reader = new formats.Reader(given.locale, "UTC");
      console.log(JSON.stringify(given.columns.map((column, at) =>
        given.values[at].map((one) => reader.cell(one, column)))));
    """  # fmt: skip

    made = in_node(script, {"locale": locale, "columns": columns, "values": values})

    writers = cell_writers(COLUMNS, locale)
    assert [[text.replace("'", "\u2019") for text in one] for one in made] == [
        [write(value) for value in column] for write, column in zip(writers, values, strict=True)
    ]


def test_a_text_is_plain_where_the_pages_show_it_so():
    texts = [
        "words", "*" * 2_001, "*" * 1_999, "| a " * 5_001, "\n".join(["| a | b |"] * 1_700),
        "> " * 31 + "x", "> " * 30 + "x", "- " * 31 + "x", " " * 101 + "x", "1. " * 40 + "x",
        "# a\n" * 301, "=\n" * 301, "---\n\n" * 301, "$" * 601, "x\n" * 3_001, "[" * 801,
        "`" * 4_001, "*" * 1_500 + "\n\n" + "*" * 1_500,
    ]  # fmt: skip
    blocks = ["Before.", "*" * 2_500, f"```\n{'*' * 2_500}\n```", "    " + "*" * 2_500, "After."]
    mixed = "\n\n".join(blocks)
    script = modules("markup") + """
      const { isTooMuch, mayColour, partsOf } = markup;
      console.log(JSON.stringify([given.texts.map(isTooMuch), partsOf(given.mixed),
        [["x", "sql"], ["x", "md"], ["x".repeat(1001), "sql"], ["x\\n".repeat(6000), "sql"]]
          .map(([text, language]) => mayColour(text, language))]));
    """  # fmt: skip

    made, parts, coloured = in_node(script, {"texts": texts, "mixed": mixed})

    assert made == [is_too_much(text) for text in texts]
    assert [one["text"] for one in parts if one["isPlain"]] == [
        piece.text for piece in split_pieces(mixed) if piece.kind == "verbatim"
    ]
    assert (parts[0]["text"][:7], parts[-1]["text"]) == ("Before.", "After.")
    assert coloured == [True, False, False, False]


def test_json_is_laid_out_as_the_pages_do():
    deep = "[" * 70 + "]" * 70
    values = ['{"a": 7, "b": [1.5, 2, {}]}', "7", "words", '"words"', "[1,", deep]
    script = modules("json") + """
      console.log(JSON.stringify(given.map((one) => json.readable(one))));
    """  # fmt: skip

    made = in_node(script, values)

    assert made[0] == [lay_out(json.loads(values[0])), "json"]
    assert made[1:5] == [["7", ""], ["words", ""], ['"words"', ""], ["[1,", ""]]
    assert made[5] == [deep, "json"]


def test_only_a_paragraph_of_the_sessions_own_pictures_is_drawn_as_pictures():
    session, result = str(uuid4()), str(uuid4())
    texts = [
        "Before\n\n![A plan](plan.png)\n\nAfter",
        f"![One](./plan.png)\n![Two](sessions/{session}/results/{result})",
        "```\n![A plan](plan.png)\n```",
        "In words ![A plan](plan.png)",
        "![A plan](https://evil.example/plan.png)",
        f"![Another's](sessions/{uuid4()}/results/{result})",
    ]
    script = modules("pieces") + """
      const pictures = new Map([["plan.png", "1"]]);
      const told = (one) => one.text ?? [one.label, one.result];
      console.log(JSON.stringify(given.texts.map((text) =>
        pieces.piecesOf(text, pictures, given.session).map(told))));
    """  # fmt: skip

    made = in_node(script, {"texts": texts, "session": session})

    assert made == [
        ["Before\n", ["A plan", "1"], "\nAfter"],
        [["One", "1"], ["Two", result]],
        *([text] for text in texts[2:]),
    ]


def test_a_files_name_is_no_path_and_no_disguise():
    script = modules("formats") + """
      console.log(JSON.stringify(given.map((name) => formats.fileName(name, "csv"))));
    """  # fmt: skip

    made = in_node(script, ["../../etc/passwd", "txt.\u202egpj.exe", "", "x" * 300])

    assert made[:3] == ["etc-passwd.csv", "txt.-gpj.exe.csv", "table.csv"]
    assert len(made[3]) < 100
