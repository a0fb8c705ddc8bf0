"""The report of a reconciliation: each number comes from a tool, and links to its cell. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.demo_model.reading import Row, figure, table
from backend.demo_model.team.comparison import AMOUNTS, LABEL
from backend.demo_model.team.inputs import Artifact, Task

_CAUSES = "Likely causes"


@dataclass(frozen=True)
class Parts:
    """The material of the report: artifacts of earlier tasks, and the rows to show."""

    largest: Artifact
    everything: Artifact
    chart: Artifact | None
    rows: Sequence[Row]


def write(task: Task, parts: Parts) -> str:
    """Return the report in Markdown."""
    sections = [
        f"# {task.question}",
        _lead(task),
        f"All differences: {parts.everything.link}.",
        "## The largest differences",
        _table(parts) if parts.rows else "There are none.",
        parts.chart.picture if parts.chart else "",
        *_explained(task.text("explanation")),
        "## What this is computed from",
        _scope(task.text("comparison")),
    ]
    return "\n\n".join(section for section in sections if section)


def _lead(task: Task) -> str:
    return task.text("comparison").partition("\n\n")[0]


def _scope(text: str) -> str:
    return text.rpartition("\n\n")[2]


def _table(parts: Parts) -> str:
    lines = [
        [row[LABEL], *(_linked(parts.largest, row, place, name) for name in AMOUNTS)]
        for place, row in enumerate(parts.rows, 1)
    ]
    written = table(("Figure", "FI (EUR)", "BPC (EUR)", "Difference (EUR)"), lines)
    return written.replace("| --- | --- | --- | --- |", "| --- | ---: | ---: | ---: |", 1)


def _linked(artifact: Artifact, row: Row, place: int, column: str) -> str:
    shown = figure(row[column])
    return artifact.cell(shown, place, column) if shown else ""


def _explained(text: str) -> list[str]:
    """Return the explanations of the differences, as the earlier task gave them."""
    found = [part for part in text.split("\n\n") if part.startswith(_CAUSES)]
    if not found:
        return []
    after = text.partition(found[0])[2].strip().split("\n\n")[0]
    return ["## What explains them", f"{found[0]}\n\n{after}"]
