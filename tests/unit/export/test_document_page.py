"""A document as a page: its numbers lead to their cells, on the pages that people open."""

from uuid import UUID

from backend.export.document_page import write_document
from backend.markdown.cells import FromElsewhere

ID = UUID("0a1b2c3d-1111-4222-8333-444455556666")


def test_numbers_lead_to_the_pages() -> None:
    href = FromElsewhere(ID, "https://desk.example.com")

    page = write_document(
        "Report", f"It is [1,234](artifact:{ID}@2#row=3&column=net EUR).", {}, href
    )

    query = f"session={ID}&amp;artifact={ID}@2&amp;row=3&amp;column=net%20EUR"
    assert f'<a href="https://desk.example.com/?{query}" target="_blank"' in page
