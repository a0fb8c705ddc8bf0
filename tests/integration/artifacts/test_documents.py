"""Documents as people take them away: their charts in place, as a web page and as a PDF."""

import io
from typing import Any

import pypdf
import pytest

from backend.tabular.chart_places import NOT_FOUND
from backend.types import JSON
from tests.fakes import script
from tests.integration.artifacts.scenes import call, desk, download, made, make
from tests.integration.scenes import check_problem
from tests.stack import Stack

ROWS = [{"account": f"A{number}", "amount": 1_234.5 * number} for number in range(1, 6)]
REPORT = """# Spend & more

| Account | EUR |
| --- | ---: |
| A1 | [1,234.50](artifact:{table}@1#row=1&column=amount) |

before
![Spend <b>](artifact:{chart}@1)
after

![Elsewhere](artifact:{other}@1)

![A table](artifact:{table}@1)
"""


@pytest.fixture(scope="module")
def session_id(shared_stack: Stack) -> str:
    return desk(shared_stack)


def make_chart(stack: Stack, session_id: str) -> tuple[JSON, JSON]:
    """Have the agent make a table and its chart."""
    table = make(stack, session_id, "table", "Rows", content=ROWS)
    said = call(
        stack, session_id, "make_chart", artifact_id=table["artifact_id"], title="Spend [EUR]"
    )
    chart = made(stack, session_id)
    assert f"![Spend (EUR)](artifact:{chart['artifact_id']}@1)" in said
    return table, chart


def pages_of(answer: Any) -> str:
    """What the pages of a PDF say, in one line."""
    assert answer.status_code == 200, answer.text
    read = pypdf.PdfReader(io.BytesIO(answer.content))
    return " ".join(" ".join(page.extract_text() for page in read.pages).split())


def test_a_document_is_taken_away_with_its_charts(stack: Stack, session_id: str) -> None:
    table, chart = make_chart(stack, session_id)
    _, other = make_chart(stack, desk(stack))
    text = REPORT.format(
        table=table["artifact_id"], chart=chart["artifact_id"], other=other["artifact_id"]
    )
    report = make(stack, session_id, "document", "Report", content=text)
    page, pdf = download(stack, report, "html"), download(stack, report, "pdf")
    said = pages_of(pdf)

    assert page.text.count("<svg") == 1
    assert "<script" not in page.text and "artifact:" not in page.text
    assert "Spend &lt;b&gt;</figcaption>" in page.text
    assert page.text.count(NOT_FOUND) == 2
    assert pdf.content.startswith(b"%PDF")
    assert pdf.headers["content-type"] == "application/pdf"
    assert 'filename="Report.pdf"' in pdf.headers["content-disposition"]
    assert "Spend & more" in said and "A1 1,234.50" in said
    assert said.index("before") < said.index("account") < said.index("Spend <b>")
    assert said.count(NOT_FOUND) == 2 and "after" in said


def test_an_exported_session_has_its_charts_drawn(stack: Stack) -> None:
    session_id = desk(stack)
    table, chart = make_chart(stack, session_id)
    named = f"artifact:{chart['artifact_id']}@1"
    make(stack, session_id, "document", "Report", content=f"# Spend\n\n![As planned]({named})\n")
    answer = f"[1,234.50](artifact:{table['artifact_id']}@1#row=1)\n\n![Gone]({named}9)"
    stack.chat(script({"text": answer}), session_id)

    def exported(form: str) -> str:
        export = stack.client.get(f"/sessions/{session_id}/export", params={"format": form})
        assert export.status_code == 200, export.text
        return export.text

    page, text = exported("html"), exported("markdown")

    assert page.count("<svg") == 2
    assert "<figcaption>Spend (EUR) (1)</figcaption>" in page
    assert "<figcaption>As planned</figcaption>" in page
    assert page.count(NOT_FOUND) == 1 and "<strong>Gone</strong>" in page
    assert "1,234.50" in page and 'href="artifact:' not in page
    assert '"mark"' in text and f"![As planned]({named})" in text


def test_a_pdf_is_of_documents_and_of_those_that_fit(stack: Stack, session_id: str) -> None:
    table, chart = make_chart(stack, session_id)
    endless = make(stack, session_id, "document", "Endless", content="a\n" * 300_000)

    assert "csv, xlsx, parquet" in check_problem(download(stack, table, "pdf"), 422)["detail"]
    assert "png, svg, json" in check_problem(download(stack, chart, "html"), 422)["detail"]
    refused = check_problem(download(stack, endless, "pdf"), 422)["detail"]
    assert "too long to be laid out as a PDF" in refused
