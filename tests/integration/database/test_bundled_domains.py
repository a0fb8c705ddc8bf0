"""The bundled domains reach each installation once; what an administrator makes of them stays."""

from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import create_engine
from sqlalchemy.orm import Session

from backend.auth.scope import LOCAL_USER
from backend.domains import service as domains
from backend.domains.catalog import FINANCE, ensure_bundled_domains
from backend.domains.finance_team import FINANCE_TEAM
from backend.schemas.domains.templates import DomainChange, DomainTemplate
from tests.stack import Servers

Start = Callable[[], dict[str, str]]


@pytest.fixture
def database(servers: Servers) -> Iterator[Session]:
    engine = create_engine(servers.new_database())
    with Session(engine) as session:
        yield session
    engine.dispose()


@pytest.fixture
def start(database: Session) -> Start:
    """Does what a start does; gives the domains' descriptions by name."""

    def run() -> dict[str, str]:
        ensure_bundled_domains(database)
        page = domains.list_domains(database, LOCAL_USER, cursor=None, limit=10)
        return {domain.name: domain.description for domain in page.items}

    return run


def test_a_new_installation_has_both_and_begins_with_the_single_agent(
    database: Session, start: Start
) -> None:
    assert start() == start() == {each.name: each.description for each in (FINANCE, FINANCE_TEAM)}

    team = domains.find(database, LOCAL_USER, FINANCE_TEAM.name)
    assert domains.find(database, LOCAL_USER, None).name == FINANCE.name
    assert domains.template_in(team) == FINANCE_TEAM
    assert domains.get_version(database, LOCAL_USER, team.id, 1).changes == []


def test_an_older_installation_is_given_the_team_and_keeps_its_own_default(
    database: Session, start: Start
) -> None:
    domains.create(database, LOCAL_USER, DomainTemplate(name="ours", description="Our own."))

    assert start() == {"ours": "Our own.", FINANCE_TEAM.name: FINANCE_TEAM.description}
    assert domains.find(database, LOCAL_USER, None).name == "ours"


def test_a_team_that_was_deleted_or_renamed_does_not_come_back(
    database: Session, start: Start
) -> None:
    start()
    team = domains.find(database, LOCAL_USER, FINANCE_TEAM.name)

    domains.change(database, LOCAL_USER, team.id, DomainChange(name="ours", description="Ours."))
    assert start() == {FINANCE.name: FINANCE.description, "ours": "Ours."}

    domains.remove(database, LOCAL_USER, team.id)
    assert start() == {FINANCE.name: FINANCE.description}


def test_a_domain_of_that_name_stays_what_it_was(database: Session, start: Start) -> None:
    own = DomainTemplate(name=FINANCE_TEAM.name, description="Ours.")
    domains.create(database, LOCAL_USER, own)

    assert start() == {FINANCE_TEAM.name: "Ours."}
