"""The bundled group's master data: companies, cost centres, accounts and rates."""

from dataclasses import dataclass

SEED = 20250101
GROUP_CURRENCY = "EUR"
INTERCOMPANY = "39000"
REVENUE_ACCOUNTS = ("400000", "410000")
PAYABLES, RECEIVABLES, CLEARING = "160000", "140000", "200000"

# The fiscal year is the calendar year: 2025 is closed, 2026 is posted up to October.
PERIODS = [(2025, period) for period in range(1, 13)] + [(2026, period) for period in range(1, 11)]
PLANNED_PERIODS = [(year, period) for year in (2025, 2026) for period in range(1, 13)]


@dataclass(frozen=True)
class CompanyCode:
    """A legal entity with its own books; `revenue` is planned per year in group currency."""

    company_code: str
    name: str
    country: str
    local_currency: str
    revenue: int


@dataclass(frozen=True)
class CostCentre:
    """A unit where costs arise; `budget` is planned per year in group currency."""

    cost_centre: str
    name: str
    company_code: str
    responsible: str
    department: str
    budget: int


@dataclass(frozen=True)
class Account:
    """A GL account and the group account it maps to (none: balance sheet)."""

    gl_account: str
    name: str
    account_type: str
    group_account: str | None


COMPANY_CODES = (
    CompanyCode("1000", "Halden Instruments GmbH", "DE", "EUR", 14_400_000),
    CompanyCode("2000", "Halden Instruments Inc.", "US", "USD", 9_600_000),
    CompanyCode("3000", "Halden Instruments Ltd", "GB", "GBP", 4_200_000),
)

COST_CENTRES = (
    CostCentre("CC-1001", "Marketing", "1000", "Anna Berger", "marketing", 1_250_000),
    CostCentre("CC-1002", "Sales Germany", "1000", "Jonas Weber", "sales", 1_900_000),
    CostCentre("CC-1003", "Information Technology", "1000", "Mira Schulz", "it", 2_100_000),
    CostCentre(
        "CC-1004", "Research and Development", "1000", "Paul Neumann", "research", 2_800_000
    ),
    CostCentre("CC-1005", "Finance and Controlling", "1000", "Clara Vogt", "office", 950_000),
    CostCentre("CC-1006", "Shared Services", "1000", "Emil Hartmann", "office", 1_300_000),
    CostCentre("CC-1007", "Human Resources", "1000", "Lea Brandt", "office", 620_000),
    CostCentre("CC-1008", "Logistics", "1000", "Tom Krause", "operations", 1_150_000),
    CostCentre("CC-2001", "Sales North America", "2000", "Grace Miller", "sales", 1_750_000),
    CostCentre("CC-2002", "Marketing North America", "2000", "Owen Clark", "marketing", 880_000),
    CostCentre("CC-2003", "Customer Service", "2000", "Nora Diaz", "operations", 930_000),
    CostCentre("CC-2004", "Administration US", "2000", "Samuel Reed", "office", 540_000),
    CostCentre("CC-2005", "Application Engineering", "2000", "Ivy Chen", "research", 1_120_000),
    CostCentre("CC-3001", "Sales United Kingdom", "3000", "Harriet Moore", "sales", 860_000),
    CostCentre("CC-3002", "Service Centre Leeds", "3000", "Callum Price", "operations", 690_000),
    CostCentre("CC-3003", "Administration UK", "3000", "Edith Lowe", "office", 380_000),
)

ACCOUNTS = (
    Account("400000", "Product revenue", "revenue", "30100"),
    Account("410000", "Service revenue", "revenue", "30200"),
    Account("470000", "Intercompany recharges, income", "intercompany", INTERCOMPANY),
    Account("620000", "Salaries", "expense", "51000"),
    Account("621000", "Social security", "expense", "51000"),
    Account("630000", "Travel", "expense", "52000"),
    Account("640000", "Consulting", "expense", "53000"),
    Account("641000", "Legal and audit", "expense", "53000"),
    Account("650000", "Software licences", "expense", "54000"),
    Account("651000", "Cloud services", "expense", "54000"),
    Account("660000", "Rent", "expense", "55000"),
    Account("661000", "Energy", "expense", "55000"),
    Account("670000", "Advertising and events", "expense", "56000"),
    Account("680000", "Training", "expense", "57000"),
    Account("681000", "Office supplies", "expense", "57000"),
    Account("690000", "Depreciation", "expense", "58000"),
    Account("695000", "Intercompany recharges, cost", "intercompany", INTERCOMPANY),
    Account(RECEIVABLES, "Trade receivables", "balance", None),
    Account(PAYABLES, "Trade payables", "balance", None),
    Account(CLEARING, "Intercompany clearing", "balance", None),
)
EXPENSE_ACCOUNTS = tuple(a.gl_account for a in ACCOUNTS if a.account_type == "expense")

GROUP_ACCOUNTS = {
    "30100": "Revenue from products",
    "30200": "Revenue from services",
    INTERCOMPANY: "Intercompany recharges",
    "51000": "Personnel",
    "52000": "Travel",
    "53000": "Consulting and legal",
    "54000": "Information technology",
    "55000": "Premises",
    "56000": "Marketing",
    "57000": "Training and supplies",
    "58000": "Depreciation",
}

# How a department spends: percent of its budget, in the order of EXPENSE_ACCOUNTS.
SPENDING = {
    "marketing": (36, 8, 5, 7, 1, 2, 2, 3, 1, 29, 2, 2, 2),
    "sales": (49, 11, 14, 3, 1, 3, 1, 5, 1, 5, 3, 2, 2),
    "it": (34, 7, 2, 10, 1, 17, 18, 3, 2, 0, 2, 1, 3),
    "research": (50, 11, 3, 6, 2, 5, 5, 5, 3, 0, 3, 2, 5),
    "office": (52, 11, 2, 8, 6, 4, 2, 6, 2, 0, 3, 2, 2),
    "operations": (47, 10, 4, 2, 1, 2, 2, 14, 8, 0, 2, 2, 6),
}

# How many documents a cost centre posts to an account per month, on average.
DOCUMENTS_PER_MONTH = (2, 1, 14, 5, 2, 4, 5, 1, 2, 9, 3, 8, 1)

# Units of local currency per euro: January 2025, then a seeded walk; and the plan's rates.
FIRST_RATES = {"EUR": 1.0, "USD": 1.08, "GBP": 0.84}
PLAN_RATES = {"EUR": 1.0, "USD": 1.10, "GBP": 0.85}

TEXTS = {
    "400000": ("Flow meters, order {n}", "Sensor kits, order {n}", "Spare parts, order {n}"),
    "410000": (
        "Calibration contract {n}",
        "Field service, report {n}",
        "Training for customers {n}",
    ),
    "620000": ("Payroll run {n}", "Payroll correction {n}"),
    "621000": ("Employer contributions {n}",),
    "630000": ("Train and hotel, trip {n}", "Flight, trip {n}", "Taxi and parking, trip {n}"),
    "640000": ("Process consulting, project {n}", "Interim staff, week {n}"),
    "641000": ("Contract review {n}", "Audit fee, part {n}"),
    "650000": ("Licence renewal {n}", "New seats, request {n}"),
    "651000": ("Compute and storage, invoice {n}", "Backup service, invoice {n}"),
    "660000": ("Office rent, contract {n}",),
    "661000": ("Electricity, meter {n}", "Heating, meter {n}"),
    "670000": ("Trade fair, stand {n}", "Online campaign {n}", "Print and design, job {n}"),
    "680000": ("Course fee, booking {n}", "Conference ticket {n}"),
    "681000": ("Office supplies, order {n}", "Small equipment, order {n}"),
    "690000": ("Depreciation run {n}",),
    "470000": ("Recharge of shared services {n}",),
    "695000": ("Recharge of shared services {n}",),
}
