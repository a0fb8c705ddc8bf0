"""Which words of a message name an agent."""

import pytest

from backend.agents.team.mentions import find_mentions

AGENTS = (
    "R", "Reconciler", "Report", "Report-writer", "Réconciler", "Writer",
    "分析师", "Аналитик", "विश्लेषक", "นักบัญชี",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@Reconciler compare FI and BPC", ["Reconciler"]),
        ("compare FI and BPC, @Reconciler", ["Reconciler"]),
        ("could @reconciler compare?", ["reconciler"]),
        ("@Reconciler: go", ["Reconciler"]),
        ("@Reconciler, go", ["Reconciler"]),
        ("(@Reconciler)", ["Reconciler"]),
        ("“@Reconciler”", ["Reconciler"]),
        ("thanks @Reconciler.", ["Reconciler"]),
        ("thanks @Reconciler!", ["Reconciler"]),
        ("**@Reconciler** go", ["Reconciler"]),
        ("line\n@Report-writer\nline", ["Report-writer"]),
        ("@Writer and @writer", ["Writer"]),
        ("@Writer and @Reconciler", ["Writer", "Reconciler"]),
        ("@Writer/@Reconciler go", ["Writer", "Reconciler"]),
        ("@Writer/@Nobody/@R", ["Writer", "Nobody", "R"]),
        ("node_modules/@Writer/@Reconciler", []),
        ("mail me at a@b.c", []),
        ("see user@Reconciler", []),
        ("a.@Reconciler", []),
        ("path/@Reconciler", []),
        ("@@Reconciler", []),
        ("_@Reconciler_ go", ["Reconciler"]),
        ("@Reconciler- go", ["Reconciler"]),
        ("@Reconciler's work", ["Reconciler"]),
        ("@R go", ["R"]),
        ("@ Reconciler", []),
        ("@1000", []),
        ("no mention", []),
        ("", []),
        ("`@Reconciler` is how one asks", []),
        ("``a ` @Reconciler`` is code", []),
        ("`open @Reconciler", ["Reconciler"]),
        ("`a` @Reconciler `b`", ["Reconciler"]),
        ("```\n@Reconciler\n```", []),
        ("```sql\nSELECT '@Reconciler'\n```\n@Writer go", ["Writer"]),
        ("~~~\n@Reconciler\n```\n@Writer\n~~~", []),
        ("````\n```\n@Reconciler\n````\n@Writer", ["Writer"]),
        ("```\n@Reconciler never closed", []),
        ("- a list:\n\n    ```python\n    @app.get\n    ```\n@Writer go", ["Writer"]),
        ("1. ```\n   @dataclass\n   ```\n2. @Writer", ["Writer"]),
        ("> ```\n> @Reconciler\n> ```\n@Writer", ["Writer"]),
        ("> > - ~~~\n> >   @Reconciler\n> >   ~~~\n> @Writer", ["Writer"]),
        ("> ```\n> @Reconciler\n\n@Writer, where the quotation ends its code", ["Writer"]),
        ("```\n- ```\n@Reconciler\n```\n@Writer", ["Writer"]),
        ("> @Reconciler said so", ["Reconciler"]),
        ("```\n@Reconciler\n```sql\n@Reconciler\n```\n@Writer", ["Writer"]),
        ("```@Reconciler``` is code, @Writer", ["Writer"]),
        ("@Réconciler", ["Réconciler"]),
        ("\uff20Reconciler go", ["Reconciler"]),
        ("a\uff20b.c", []),
        ("@R\u200beconciler", ["R"]),
        ("请@Reconciler看一下", ["Reconciler"]),
        ("@Writer에게 물어봐", ["Writer"]),
        ("@Report-writerさん、お願いします", ["Report-writer"]),
        ("「@Writer」", ["Writer"]),
        ("what now?—@Writer", ["Writer"]),
        ("请@Nobody看一下", ["Nobody"]),
        ("请@张三看一下", []),
        ("请@分析师看一下", ["分析师"]),
        ("@аналитик, сравни", ["аналитик"]),
        ("@Аналитики", ["Аналитики"]),
        ("@Бухгалтер, сравни", ["Бухгалтер"]),
        ("पूछो @विश्लेषक से", ["विश्लेषक"]),
        ("@विश्लेषकों से", ["विश्लेषकों"]),
        ("ถามที่@นักบัญชี", ["นักบัญชี"]),
        ("@Re\u0301conciler", ["Réconciler"]),
        ("@Report-reader and @Reporters", ["Report-reader", "Reporters"]),
        ("@Writer.Please go", ["Writer"]),
        ("npm install @types/node", []),
        ("npm install @writer/node", []),
        ("follow @Writer@example.social", []),
        ("@app.get('/') answers", []),
        ("mail me+@Writer.com or 客服@Writer.com", []),
    ],
)
def test_mentions(text: str, names: list[str]) -> None:
    assert find_mentions(text, AGENTS) == names


def test_a_long_hostile_line_is_read_at_once() -> None:
    assert find_mentions("@R" + "a" * 500_000 + "/x", AGENTS) == []
    assert find_mentions("@R" + "-" * 500_000 + "x", AGENTS) == ["R" + "-" * 500_000 + "x"]
    assert find_mentions("a.+" * 200_000, AGENTS) == []
    assert find_mentions("`" * 100_001 + "@Reconciler" + " `a" * 50_000, AGENTS) in (
        [],
        ["Reconciler"],
    )
    assert find_mentions("> - 1. " * 100_000 + "@Reconciler", AGENTS) == ["Reconciler"]
    assert find_mentions(" " * 500_000 + "@Reconciler", AGENTS) == ["Reconciler"]
