"""Tools that read an uploaded document page by page, and search it."""

from collections.abc import Sequence

from langchain_core.tools import BaseTool
from pydantic import BaseModel, Field

from backend.data.errors import QueryFailed
from backend.data.files.documents import with_plain_letters
from backend.data.results import Column, Limits, Scalar, Table
from backend.data.source_info import SourceInfo
from backend.data.sql.quoting import literal
from backend.tools.context import ToolContext
from backend.tools.sources.making import Answer, make_tool
from backend.tools.sources.presenting import excerpt, table_artifact

DOCUMENT = "document"
READ_CHARS = 12_000
_MOST_PAGES = 50
_PASSAGE_CHARS = 190  # a cell of an excerpt shows 200
_BEFORE = 70
_MOST_PASSAGES = 20
_MOST_DOCUMENTS = 20
_MOST_WORDS = 10
_SOURCE = Field(description="The document's name as in list_sources.", examples=["contract"])
_PAGE = (
    "SELECT page, length(text) AS size, substr(text, CASE WHEN page = {page} THEN {start} ELSE 1 "
    "END, {chars}) AS said, (SELECT max(page) FROM pages) AS last FROM pages WHERE page >= {page} "
    "ORDER BY page LIMIT {most}"
)
# A word divided at a line's end is one word in `joined`. In `kept` it has its hyphen, which may be
# its own: terms with a hyphen are found there, and no space follows one.
_SEARCH = (
    "WITH typed AS (SELECT page, regexp_replace(translate(text, '\u2019\u2010', '''-'), "
    r"'\xAD\s*', '', 'g') AS text FROM pages), whole AS (SELECT page, "
    r"regexp_replace(text, '(\pL)-[ \r]*\n\s*(\p{{Ll}})', '\1\2', 'g') AS joined, "
    r"regexp_replace(text, '-[\s\pZ]+', '-', 'g') AS kept FROM typed), plain AS (SELECT page, "
    r"regexp_replace(joined, '[\s\pZ]+', ' ', 'g') AS joined, "
    r"regexp_replace(kept, '[\s\pZ]+', ' ', 'g') AS kept FROM whole), "
    "found AS (SELECT page, {shown} AS said, {hits} AS hits, {place} AS place FROM plain "
    "WHERE {condition}) "
    "SELECT page, hits, substr(said, greatest(place - {before}, 1), {chars}) AS passage "
    "FROM found ORDER BY hits DESC, page LIMIT {most}"
)


class ReadDocument(BaseModel):
    """Read the text of an uploaded document from a page on, as much as fits into one result.

    A text without pages of its own is cut into parts, which count as pages. To find where something
    is said, use search_document first. Example: source="contract", page=3.
    """

    source: str = _SOURCE
    page: int = Field(1, ge=1, description="The page to begin with.")
    offset: int = Field(0, ge=0, description="Characters of that page to skip, to read on.")


class SearchDocument(BaseModel):
    """Find the pages of uploaded documents that contain all given words, with a passage of each.

    Case is ignored; a text in double quotes must match exactly.
    Example: source="contract", words='notice "three months"'.
    """

    words: str = Field(min_length=1, max_length=300, description="The words to find.")
    source: str | None = Field(None, description="One document; leave out for all of them.")


def read_document(context: ToolContext) -> BaseTool:
    """Return the tool that reads a document."""

    async def ask(source: str, page: int = 1, offset: int = 0) -> Answer:
        info = await context.sources.find(context.asker, source)
        if info.kind != DOCUMENT:
            raise QueryFailed(f"{info.name} is no document: ask it with query_source.")
        sql = _PAGE.format(page=page, start=offset + 1, chars=READ_CHARS + 1, most=_MOST_PAGES)
        found = await context.sources.query(context.asker, info.name, sql, Limits())
        if not found.rows:
            last = info.tables[0].rows if info.tables else 0
            raise QueryFailed(f"{info.name} has no page {page:,}: it has {last:,}.")
        return "\n".join([*_warnings(info), _reading(info.name, found.rows, offset)]), None

    return make_tool("read_document", ReadDocument, ask, context)


def search_document(context: ToolContext) -> BaseTool:
    """Return the tool that searches documents."""

    async def ask(words: str, source: str | None = None) -> Answer:
        wanted = _terms(words)
        names, left_out = await _documents(context, source)
        sql = _search_sql(wanted)
        rows: list[list[Scalar]] = []
        warnings: list[str] = []
        for name in names:
            found = await context.sources.query(context.asker, name, sql, Limits())
            rows += [[name, *row] for row in found.rows]
            warnings += _warnings(await context.sources.find(context.asker, name))
        columns = [Column(name, "VARCHAR") for name in ("document", "page", "hits", "passage")]
        table = Table(tuple(columns), rows[:_MOST_PASSAGES])
        notes = _notes(names, len(rows), left_out)
        title = f"Pages with {', '.join(repr(word) for word in wanted)}"
        return excerpt(title, table, notes + warnings), table_artifact(title, table)

    return make_tool("search_document", SearchDocument, ask, context)


def _reading(name: str, rows: Sequence[Sequence[Scalar]], offset: int) -> str:
    """Return as much of the pages' text as fits, and clearly where it continues."""
    first, last = int(str(rows[0][0])), int(str(rows[0][3]))
    lines, room = [], READ_CHARS
    for page, size, said, _ in rows:
        text, number = str(said or ""), int(str(page))
        skipped = offset if number == first else 0
        if room <= 0:
            lines.append(f"CUT: {name} goes on: read on with page={number}.")
            break
        lines += [f"--- page {number} of {last} ---", text[:room]]
        if skipped + len(text[:room]) < int(str(size or 0)):
            further = skipped + room
            lines.append(
                f"CUT: page {number} goes on: read on with page={number}, offset={further}."
            )
            break
        room -= len(text)
    else:
        number = int(str(rows[-1][0]))
        end = f"read on with page={number + 1}." if number < last else "this is its end."
        lines.append(f"{name}: {end}")
    return "\n".join(lines)


async def _documents(context: ToolContext, source: str | None) -> tuple[list[str], int]:
    """Return the documents to search, and how many are left out."""
    if source is not None:
        info = await context.sources.find(context.asker, source)
        if info.kind != DOCUMENT:
            raise QueryFailed(f"{info.name} is no document: ask it with query_source.")
        return [info.name], 0
    names = await context.sources.documents()
    return names[:_MOST_DOCUMENTS], max(len(names) - _MOST_DOCUMENTS, 0)


def _warnings(info: SourceInfo) -> list[str]:
    """Return what is missing or uncertain in a document's text: a scan has none."""
    return [f"NOTE on {info.name}: {said}" for table in info.tables for said in table.warnings]


def _terms(words: str) -> list[str]:
    plain = with_plain_letters(words).replace("\u2019", "'").replace("\u2010", "-")
    parts = plain.replace("\u00ad", "").split('"')
    terms = [part for place, part in enumerate(parts) if place % 2]
    terms += [word for place, part in enumerate(parts) if not place % 2 for word in part.split()]
    found = list(dict.fromkeys(" ".join(term.lower().split()) for term in terms if term.strip()))
    if not found:
        raise QueryFailed("Give at least one word to find.")
    if len(found) > _MOST_WORDS:
        raise QueryFailed(f"Give at most {_MOST_WORDS} words, or a text in double quotes.")
    return found


def _search_sql(terms: Sequence[str]) -> str:
    columns = ["kept" if "-" in term else "joined" for term in terms]
    quoted = [literal(term.replace("- ", "-")) for term in terms]
    wanted = [(f"lower({column})", term) for column, term in zip(columns, quoted, strict=True)]
    hits = " + ".join(
        f"(length({lower}) - length(replace({lower}, {term}, ''))) // length({term})"
        for lower, term in wanted
    )
    return _SEARCH.format(
        shown=columns[0],
        hits=hits,
        place="strpos({}, {})".format(*wanted[0]),
        condition=" AND ".join(f"contains({lower}, {term})" for lower, term in wanted),
        before=_BEFORE,
        chars=_PASSAGE_CHARS,
        most=_MOST_PASSAGES + 1,
    )


def _notes(names: Sequence[str], found: int, left_out: int) -> list[str]:
    notes = [f"Searched: {', '.join(names) or 'no document'}."]
    if found > _MOST_PASSAGES:
        notes.append(f"CUT: only {_MOST_PASSAGES} pages are shown; give more words.")
    if left_out:
        notes.append(f"CUT: {left_out:,} more documents were not searched; name one as source.")
    return notes
