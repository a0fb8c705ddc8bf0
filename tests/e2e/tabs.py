"""A person's browser: its tabs, the two parts of a page, its address."""

import re

from playwright.sync_api import BrowserContext, Locator, Page, expect


class Tabs:
    """One person's browser; each tab is a page of it."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.context, self.url = context, url
        self.requests: list[str] = []
        self._page: Page | None = None

    @property
    def page(self) -> Page:
        """The tab that is looked at; it opens when a test first looks, so none is drawn in vain."""
        return self._page or self.open()

    @page.setter
    def page(self, page: Page) -> None:
        self._page = page

    def open(self, query: str = "") -> Page:
        """Open a tab, and make it the one that is looked at."""
        self.page = self.context.new_page()
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(f"{self.url}/{query}")
        expect(self.link("New Chat")).to_be_visible()
        return self.page

    @property
    def main(self) -> Locator:
        """The page beside the sidebar."""
        return self.page.get_by_role("main")

    @property
    def sidebar(self) -> Locator:
        return self.page.get_by_role("region", name="Sidebar", include_hidden=True)

    def link(self, name: str) -> Locator:
        """What in the sidebar leads to a page; after its name comes its key, or how much waits."""
        return self.sidebar.get_by_role("button", name=re.compile(f"^{name}"))

    def open_sidebar(self) -> None:
        """Have the sidebar in sight in a window that is too narrow for both."""
        self.page.get_by_role("button", name="Expand sidebar").click()

    @property
    def query(self) -> str:
        """The part of the URL that names the session."""
        return "?" + self.page.url.partition("?")[2]

    @property
    def session_id(self) -> str:
        return self.query.removeprefix("?session=")
