"""What the tests of people share: one installation with accounts for each module."""

from collections.abc import Iterator

import pytest

from tests.integration.people.people import Accounts, accounts_of, forget_failures
from tests.stack import Stack


@pytest.fixture(scope="module")
def accounts_of_module(
    shared_stack: Stack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Accounts]:
    with accounts_of(shared_stack, tmp_path_factory.mktemp("accounts")) as found:
        yield found


@pytest.fixture
def accounts(stack: Stack, accounts_of_module: Accounts) -> Accounts:
    """An installation over the shared stack, whose turns end with the test."""
    forget_failures(accounts_of_module.database)
    return accounts_of_module
