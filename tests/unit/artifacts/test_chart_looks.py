"""How charts look in documents and exports."""

import re

from backend.artifacts.documents.charts import COLOURS, Source, draw_all


def test_things_have_the_colours_of_the_pages():
    rows = [[f"CC-{number}", 1.0] for number in range(len(COLOURS))]
    columns = [{"name": "centre", "type": "VARCHAR"}, {"name": "spend", "type": "DOUBLE"}]
    spec = {
        "mark": {"type": "arc"},
        "encoding": {
            "theta": {"field": "spend", "type": "quantitative"},
            "color": {"field": "centre", "type": "nominal"},
        },
    }

    (svg,) = draw_all([Source("c", spec, {"columns": columns, "rows": rows})], "en")

    slices = re.findall(r'aria-roledescription="arc mark"[^>]*fill="(#\w+)"', svg)
    assert sorted(slices) == sorted(COLOURS)
