"""The component's rules of a history, in Node: they agree with those of the pages for any rows."""

import json
import random
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from backend.schemas.conversations.sessions import DisplayMessage, MessagePage
from backend.tabular.cells import cell_writers
from backend.tabular.columns import described
from backend.tabular.locales import write_day, write_number
from ui.features.chat import windows
from ui.features.chat.messages.blocks import Block, to_groups
from ui.features.chat.messages.steps import Fold, fold
from ui.shared.formats.times import duration
from ui.shared.text.json_text import lay_out
from ui.shared.text.markdown import split_pieces
from ui.shared.text.markup import is_too_much
from ui.state import Window

FOLDER = Path(__file__).parent.parent.parent.parent / "ui" / "assets" / "conversation"
pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
KINDS = ("text", "thinking", "tool_call", "tool_result", "todos", "interrupt", "notice")
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


def any_rows(chance: random.Random, count: int) -> list[DisplayMessage]:
    turns = [uuid4() for _ in range(4)]
    return [any_row(chance, place, turns[place * 4 // count]) for place in range(count)]


def any_row(chance: random.Random, position: int, turn: UUID) -> DisplayMessage:
    kind = chance.choice(KINDS)
    is_user = kind == "text" and chance.random() < 0.3
    content: dict[str, Any] = {"text": "words", "call_id": chance.choice("abc")}
    content["tool_call_id"] = content["call_id"]
    content["name"] = chance.choice(["write_todos", "query_source", "run_plan"])
    content["is_error"] = chance.random() < 0.3
    return DisplayMessage.model_validate(
        {
            "id": uuid4(),
            "position": position + 1,
            "message_type": "user" if is_user else "assistant",
            "content_type": kind,
            "content": content,
            "sequence": 0,
            "status": chance.choice(["completed", "stopped", "pending", "failed"]),
            "agent": None if is_user else chance.choice([None, "one", "two"]),
            "turn_id": turn,
            "created_at": datetime.now(UTC),
            "metadata": chance.choice([{}, {"table": {"chart": {}}}, {"seconds": 2}]),
        }
    )


def sent(rows: list[DisplayMessage]) -> list[Any]:
    return [row.model_dump(mode="json") for row in rows]


def told(block: Block) -> list[str | None]:
    parts = (block.row, block.result, block.asked)
    return [str(part.id) if part else None for part in parts]


def test_rows_make_the_same_groups_and_folds():
    histories = [any_rows(random.Random(seed), 24) for seed in range(60)]
    script = modules("blocks") + """
      const told = ({ row, result, asked }) => [row, result, asked].map((one) => one?.id ?? null);
      const groupOf = ({ isUser, agent, blocks: all }) => [isUser, agent,
        blocks.fold(all).map((part) => Array.isArray(part) ? part.map(told) : told(part))];
      console.log(JSON.stringify(given.map((rows) => blocks.toGroups(rows).map(groupOf))));
    """  # fmt: skip

    made = in_node(script, [sent(rows) for rows in histories])

    assert made == [
        [
            [
                group.is_user,
                group.agent,
                [
                    list(map(told, part.blocks)) if isinstance(part, Fold) else told(part)
                    for part in fold(group.blocks)
                ],
            ]
            for group in to_groups(rows)
        ]
        for rows in histories
    ]


def test_a_window_moves_and_is_cut_alike():
    chance = random.Random(1)
    cases = []
    for count in (1, 20, 50, 120, 150):
        items = any_rows(chance, count)
        for before, after in ((None, None), (5, None), (None, 900), (5, 900)):
            page = MessagePage(items=items, next_before=before, next_after=after)
            for window in (Window(), Window(150), Window(100, before=999), Window(60, after=3)):
                cases.append((page, window))
    script = modules("windows") + """
      const { cutToTurns, earlier, later, rowsOf } = windows;
      const clean = ({ limit, before = null, after = null }) => [limit, before, after];
      console.log(JSON.stringify(given.map(([page, [limit, before, after]]) => {
        const window = { limit, before: before ?? undefined, after: after ?? undefined };
        const cut = cutToTurns(page, window);
        return [cut.items.map(({ id }) => id), cut.next_before, cut.next_after,
          clean(earlier(window, page)), clean(later(page)), rowsOf(window, 77)];
      })));
    """  # fmt: skip

    made = in_node(script, [
        [page.model_dump(mode="json"), [w.limit, w.before, w.after]] for page, w in cases
    ])  # fmt: skip

    def clean(window: Window) -> list[int | None]:
        return [window.limit, window.before, window.after]

    for (page, window), got in zip(cases, made, strict=True):
        cut = windows.cut_to_turns(page, window)
        assert got == [
            [str(row.id) for row in cut.items],
            cut.next_before,
            cut.next_after,
            clean(windows.earlier(window, page)),
            clean(windows.later(page)),
            window.rows(77),
        ]


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
