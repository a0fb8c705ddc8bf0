"""All pages: the file, URL path and navigation entry of each."""

from dataclasses import dataclass

from backend.schemas.people.rights import Permission
from ui import navigation


@dataclass(frozen=True)
class PageSpec:
    """One page. `key` is that of its sidebar link; without one, only other pages link to it.

    `needs`: what the caller must be permitted to; such pages are under *Administration*, those
    `of_accounts` only where people sign in.
    """

    path: str
    title: str
    icon: str
    url_path: str
    key: str | None = None
    needs: Permission | None = None
    of_accounts: bool = False
    shortcut: str | None = None


PAGES = (
    PageSpec(navigation.CHAT_PAGE, "Colloquy", ":material/forum:", ""),
    PageSpec(
        navigation.SEARCH_PAGE,
        "Search in messages",
        ":material/search:",
        "search",
        "search-in-messages",
        shortcut="Mod+K",
    ),
    PageSpec(navigation.INBOX_PAGE, "Inbox", ":material/approval:", "inbox", "inbox"),
    PageSpec(navigation.TASKS_PAGE, "Tasks", ":material/account_tree:", "tasks", "tasks"),
    PageSpec(navigation.AGENTS_PAGE, "Agents", ":material/groups:", "agents", "agents"),
    PageSpec(navigation.DATA_PAGE, "Data", ":material/database:", "data", "data"),
    PageSpec(navigation.IMPORT_PAGE, "Import", ":material/move_to_inbox:", "import", "import"),
    PageSpec(
        navigation.SESSIONS_PAGE,
        "All sessions",
        ":material/table_rows:",
        "sessions",
        "all-sessions",
        needs=Permission.REVIEW_SESSIONS,
    ),
    PageSpec(
        navigation.DOMAINS_PAGE,
        "Domains",
        ":material/category:",
        "domains",
        "domains",
        needs=Permission.MANAGE_DOMAINS,
    ),
    PageSpec(
        navigation.MODELS_PAGE,
        "Models",
        ":material/bolt:",
        "models",
        "models",
        needs=Permission.MANAGE_MODELS,
    ),
    PageSpec(
        navigation.GRANTS_PAGE,
        "Grants",
        ":material/key:",
        "grants",
        "grants",
        needs=Permission.MANAGE_PEOPLE,
        of_accounts=True,
    ),
    PageSpec(navigation.SHARED_PAGE, "Shared session", ":material/link:", "shared"),
    PageSpec(navigation.ACCOUNT_PAGE, "Account", ":material/account_circle:", "account"),
    PageSpec(navigation.CONFIGURATION_PAGE, "Configuration", ":material/tune:", "configuration"),
    PageSpec(navigation.INSPECTOR_PAGE, "Inspector", ":material/troubleshoot:", "inspector"),
    PageSpec(
        navigation.SERVERS_PAGE,
        "Tool servers",
        ":material/dns:",
        "servers",
        "tool-servers",
        needs=Permission.MANAGE_SERVERS,
    ),
    PageSpec(
        navigation.USAGE_PAGE,
        "Usage",
        ":material/data_usage:",
        "usage",
        "usage",
        needs=Permission.SEE_ALL_USAGE,
    ),
    PageSpec(
        navigation.WORK_PAGE,
        "Work",
        ":material/monitor_heart:",
        "work",
        "work",
        needs=Permission.SEE_WORK,
    ),
    PageSpec(
        navigation.RETENTION_PAGE,
        "Retention",
        ":material/auto_delete:",
        "retention",
        "retention",
        needs=Permission.OPERATE,
    ),
    PageSpec(
        navigation.WEBHOOKS_PAGE,
        "Webhooks",
        ":material/webhook:",
        "webhooks",
        "webhooks",
        needs=Permission.OPERATE,  # others come from their account
    ),
    PageSpec(
        navigation.PEOPLE_PAGE,
        "People",
        ":material/person:",
        "people",
        "people",
        needs=Permission.MANAGE_PEOPLE,
        of_accounts=True,
    ),
    PageSpec(
        navigation.TEAMS_PAGE,
        "Teams",
        ":material/group:",
        "teams",
        "teams",
        needs=Permission.MANAGE_PEOPLE,
        of_accounts=True,
    ),
    PageSpec(
        navigation.SIGNING_IN_PAGE,
        "Signing in",
        ":material/login:",
        "signing-in",
        "signing-in",
        needs=Permission.MANAGE_PEOPLE,
        of_accounts=True,
    ),
    PageSpec(
        navigation.AUDIT_PAGE,
        "Audit",
        ":material/fact_check:",
        "audit",
        "audit",
        needs=Permission.READ_AUDIT,
        of_accounts=True,
    ),
)


def file_of(url_path: str) -> str:
    """Return the file of the page with this URL path; unknown ones show the first page."""
    return next((page.path for page in PAGES if page.url_path == url_path), PAGES[0].path)
