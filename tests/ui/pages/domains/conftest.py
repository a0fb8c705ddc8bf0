"""What the tests of the page of domains share: the page, opened."""

import pytest

from tests.ui.pages.domains.domain_page import PAGE


@pytest.fixture
def open_domains(open_page):
    def open_it(domain=None):
        page = open_page().switch_page(PAGE)
        if domain is not None:
            page.query_params["domain"] = str(domain)
        return page.run()

    return open_it
