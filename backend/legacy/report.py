"""The report of a migration: what became of each row and why, as JSON and as a page."""

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from backend.text import counted
from backend.types import JSON

NOW, BEFORE = "now", "before"  # when a row was taken: in this run, in an earlier one


@dataclass
class Entry:
    """A row in the report. `session`: what it became here; `taken`: in this run or before."""

    row: int
    id: str
    title: str
    domain: str
    session_id: str
    outcome: str
    reason: str
    session: str | None = None
    messages: int = 0
    is_mixed: bool = False
    taken: str = ""
    notes: list[str] = field(default_factory=list)


@dataclass
class Report:
    """What a run did. `left`: sessions of the file with messages that no row led to."""

    file: str
    owner: str
    is_dry_run: bool
    entries: list[Entry] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    @property
    def outcomes(self) -> dict[str, int]:
        """How many rows have each outcome."""
        return dict(Counter(str(entry.outcome) for entry in self.entries))

    def as_json(self) -> JSON:
        """Return the report for programs."""
        return {
            "file": self.file,
            "owner": self.owner,
            "dry_run": self.is_dry_run,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "outcomes": self.outcomes,
            "reasons": dict(Counter(entry.reason for entry in self.entries)),
            "mixed": sum(entry.is_mixed for entry in self.entries),
            "notes": self.notes,
            "sessions_left": self.left,
            "rows": [asdict(entry) for entry in self.entries],
        }

    def summary(self) -> str:
        """Return the report in a few lines."""
        reasons = Counter((entry.outcome, entry.reason) for entry in self.entries)
        before = sum(entry.taken == BEFORE for entry in self.entries)
        lines = [f"{counted(len(self.entries), 'conversation')} in {self.file}, for {self.owner}"]
        lines += [f"  {n:>7,}  {o}: {r}" for (o, r), n in reasons.most_common()]
        lines += [f"  {sum(e.is_mixed for e in self.entries):>7,}  with a mixed history"]
        lines += [f"  {before:>7,}  were taken in an earlier run"] if before else []
        if self.left:
            lines.append(f"  {counted(len(self.left), 'session')} with messages belong to no row")
        lines += [f"  {note}" for note in self.notes]
        if self.is_dry_run:
            lines.append("Nothing was changed: this was a dry run.")
        return "\n".join(lines)

    def as_page(self) -> str:
        """Return the report as a page that needs nothing else."""
        rows = "\n".join(_row(entry) for entry in self.entries)
        heads = "".join(f"<th>{name}</th>" for name in _COLUMNS)
        return _PAGE.format(summary=escape(self.summary()), heads=heads, rows=rows)


def write_report(report: Report, path: Path) -> Path:
    """Write the JSON to `path` and the page beside it, both for their owner only; return its path.

    Raise OSError.
    """
    page = path.with_suffix(".html")
    _write(path, json.dumps(report.as_json(), ensure_ascii=False, indent=1) + "\n")
    _write(page, report.as_page())
    return page


def _write(path: Path, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def _row(entry: Entry) -> str:
    cells = (
        entry.row,
        entry.id,
        entry.title,
        entry.domain,
        entry.session_id,
        entry.outcome,
        entry.reason,
        f"{entry.messages:,}{' (mixed)' if entry.is_mixed else ''}",
        " ".join(entry.notes),
        entry.session or "",
    )
    return f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in cells)}</tr>"


_COLUMNS = (
    "Row", "Id", "Title", "Domain", "Named", "Outcome", "Reason", "Messages", "Notes", "Session",
)  # fmt: skip
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Migration from the older system</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }}
table {{ border-collapse: collapse; width: 100%; }}
th, td {{ border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left; }}
td {{ vertical-align: top; overflow-wrap: anywhere; }}
th {{ position: sticky; top: 0; background: #fff; }}
pre {{ white-space: pre-wrap; }}
</style>
<h1>Migration from the older system</h1>
<pre>{summary}</pre>
<table><thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody></table></html>
"""
