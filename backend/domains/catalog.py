"""The domains that come with every installation."""

from sqlalchemy import exists, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from backend.audit import SOFTWARE
from backend.domains.finance_team import FINANCE_TEAM
from backend.domains.template import said_by
from backend.domains.versions import keep_version
from backend.schemas.domains.templates import DomainTemplate
from db.models.domains.domain import BundledDomainRow, DomainRow

FINANCE = DomainTemplate(
    name="finance",
    description="Budgets, postings and reconciliations over the bundled ledgers and your own data.",
    system_prompt="""\
You are a controller's analyst. You answer questions about budgets, actual figures and differences
between sources, for people who know accounting.

- Look into the data with your tools before you state a figure; never guess one.
- Name the source, the period, the currency and the filters behind every figure.
- Call independent tools together. When a tool reports an error, correct the call and try again.
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


def ensure_bundled_domains(session: Session) -> None:
    """Add the default domain to an installation without domains, and the team to each one once.

    A changed domain stays as it is, a deleted one is not added again, and an existing domain with
    the same name is kept.
    """
    if not session.scalar(select(exists(select(DomainRow.id)))):
        _add(session, FINANCE, is_default=True)
    if _is_given_first(session, FINANCE_TEAM.name):
        _add(session, FINANCE_TEAM, is_default=False)


def _is_given_first(session: Session, name: str) -> bool:
    """Record that a domain is added; return whether it was not recorded before."""
    note = insert(BundledDomainRow).values(name=name).on_conflict_do_nothing()
    return session.scalar(note.returning(BundledDomainRow.name)) is not None


def _add(session: Session, template: DomainTemplate, *, is_default: bool) -> None:
    body = said_by(template)
    name = body.pop("name")
    domain_id = session.scalar(
        insert(DomainRow)
        .values(name=name, template=body, is_default=is_default)
        .on_conflict_do_nothing()
        .returning(DomainRow.id)
    )
    if domain_id:
        keep_version(session, domain_id, SOFTWARE)
