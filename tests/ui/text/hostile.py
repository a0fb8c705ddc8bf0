"""Texts that are made to hold up whoever reads them."""

SIZE = 200_000

HOSTILE = {
    "a long fence line": "```" + "a" * SIZE + "`",
    "a fence line of blanks": "~~~" + " " * SIZE + "`",
    "a fence line of signs": "~" * SIZE + "`",
    "many fence lines": "```" + "`x\n```" * (SIZE // 6),
    "fences that open only": "```\n~~~\n" * (SIZE // 8),
    "backticks": "`" * SIZE,
    "runs of two lengths": "` `` " * (SIZE // 5),
    "runs of all lengths": " ".join("`" * n for n in range(1, 1_400)),
    "dollars": "$" * SIZE,
    "formulas without an end": "$=a " * (SIZE // 4),
    "one formula without an end": "$a" + "_" * SIZE,
    "rules without an end": "$$\n" * (SIZE // 3),
    "a rule of blanks": ("$$" + " " * 1_000 + "x\n") * (SIZE // 1_000),
    "colons": ":" * SIZE,
    "names without an end": ":a" * (SIZE // 2),
    "one name without an end": ":" + "a" * SIZE,
    "brackets without an end": "\\[=" * (SIZE // 3),
    "brackets that close only": "\\(x\\]" * (SIZE // 5),
    "images": "![" * (SIZE // 2),
    "empty lines": "\n" * SIZE,
    "lines of blanks": ("\n" + " " * 1_000) * (SIZE // 1_000),
    "invisible": "\x00" * SIZE,
    "letters": "a" * SIZE,
}
