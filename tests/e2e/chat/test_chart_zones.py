"""A day on a chart is the day of its table for people in every zone."""

from playwright.sync_api import Browser, expect

from backend.tabular.locales import write_day
from tests.e2e.conftest import PATIENCE_MS
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

# West and east of UTC, half an hour off, beyond the date line, and one with summer time.
ZONES = ("America/Los_Angeles", "America/Sao_Paulo", "Europe/Berlin", "Asia/Kolkata",
         "Pacific/Auckland")  # fmt: skip
MONTHS = "(VALUES (DATE '2026-01-01', 1), (DATE '2026-02-01', 2), (DATE '2026-03-01', 3)) v(day, n)"
SUMMER = "(VALUES (DATE '2026-03-28', 1), (DATE '2026-03-29', 2), (DATE '2026-03-30', 3)) v(day, n)"
CLOCKS = "(VALUES (TIMESTAMPTZ '2026-01-31 23:00+00', 1), ('2026-02-01 02:00+00', 2)) v(seen, n)"
BY_MONTH = {
    "mark": "bar",
    "encoding": {
        "x": {"field": "day", "type": "temporal", "timeUnit": "yearmonth"},
        "y": {"field": "n", "type": "quantitative", "aggregate": "sum"},
    },
}
CHARTS = [
    {"source": "fi", "sql": f"SELECT * FROM {MONTHS}", "title": "Months", "spec": BY_MONTH},
    {"source": "fi", "sql": f"SELECT * FROM {SUMMER}", "title": "Days"},
    {"source": "fi", "sql": f"SELECT * FROM {CLOCKS}", "title": "Clocks"},
]
SEEN = ["Jan 2026", "Feb 2026", "Mar 2026"]
DAYS = [write_day(f"2026-03-{day}", "en-US") for day in (28, 29, 30)]
HOURS = ["23:00", "01:00", "02:00", "seen (UTC)"]


def test_the_axes_show_the_days_of_the_table_in_five_zones(
    browser: Browser, stack: Stack, model: ScriptedModel, scripted_url: str
) -> None:
    model.steps = [
        {"tools": [{"name": "make_chart", "args": chart} for chart in CHARTS]},
        {"text": "Drawn."},
    ]
    session_id = stack.chat("Draw them")["session_id"]
    found = []
    for zone in ZONES:
        context = browser.new_context(
            timezone_id=zone, locale="en-US", viewport={"width": 1280, "height": 2400}
        )
        context.set_default_timeout(PATIENCE_MS)
        desk = Desk(context, scripted_url)
        desk.open(f"?session={session_id}")
        pictures = desk.charts
        expect(pictures).to_have_count(len(CHARTS))
        texts = [picture.locator("text").all_text_contents() for picture in pictures.all()]
        bars = pictures.first.locator("[aria-roledescription=bar]").all()
        found.append((texts, [bar.get_attribute("aria-label") for bar in bars]))
        context.close()

    (months, days, hours), bars = found[0]
    assert all(other == found[0] for other in found)
    assert set(SEEN) <= set(months) and "Dec 2025" not in months
    assert bars == [f"day: {month}; n: {n}" for n, month in enumerate(SEEN, 1)]
    assert [text for text in days if "2026" in text] == DAYS
    assert set(HOURS) <= set(hours)
