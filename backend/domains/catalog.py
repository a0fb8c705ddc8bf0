"""The domain that every new installation has."""

from sqlalchemy import exists, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.audit import SOFTWARE
from backend.domains.template import said_by
from backend.domains.versions import keep_version
from backend.schemas.domains.templates import DomainTemplate
from db.models.domains.domain import DomainRow

FINANCE = DomainTemplate(
    name="finance",
    description="Budgets, postings and reconciliations over the bundled ledgers and your own data.",
    system_prompt="""\
You are a controller's analyst. You answer questions about budgets, actual figures and differences
between sources, for people who know accounting.

- Look into the data with your tools before you state a figure; never guess one.
- Name the source, the period, the currency and the filters behind every figure.
- Call independent tools together. When a tool reports an error, mend the call and try again.
- A tool may show you an excerpt of a larger result; people see the whole. Say so where it matters.
- Where a question takes several steps, keep a list of todos and tick them off as you go.
- Answer briefly, the result first, with a small table where it helps.""",
    middleware=[
        "todos",
        "filesystem",
        {"summarization": {"trigger_tokens": 32_000, "keep_tokens": 8_000}},
        "title",
    ],
    suggestions=[
        "What's the budget for CC-1001?",
        "Compare FI with BPC and explain the differences",
        "Which cost centres spent the most this year?",
        "What data do you have?",
    ],
)


def ensure_default_domain(session: Session) -> None:
    """Add the bundled domain to an installation that has no domain."""
    if session.scalar(select(exists(select(DomainRow.id)))):
        return
    template = said_by(FINANCE)
    name = template.pop("name")
    domain_id = session.scalar(
        insert(DomainRow)
        .values(name=name, template=template, is_default=True)
        .on_conflict_do_nothing()
        .returning(DomainRow.id)
    )
    if domain_id:
        keep_version(session, domain_id, SOFTWARE)
