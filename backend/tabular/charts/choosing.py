"""What a person may choose of a chart: its mark, its two axes, its colour. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from backend.tabular.charts.fitting import NUMBER_KINDS, default_spec, make_spec
from backend.tabular.charts.spec import Columns, Spec, SpecRefused, check_spec
from backend.tabular.columns import kinds_of

MARKS = ("bar", "line", "area", "point")


@dataclass(frozen=True)
class Choices:
    """What is chosen, by column names, and of which columns: `values` are those to measure."""

    mark: str
    x: str
    y: str
    colour: str | None
    columns: tuple[str, ...]
    values: tuple[str, ...]

    def choose(
        self, mark: str | None, x: str | None, y: str | None, colour: str | None
    ) -> "Choices":
        """Return them with what is chosen otherwise; an empty colour is none. Raise SpecRefused."""
        colour = self.colour if colour is None else colour or None
        chosen = replace(self, mark=mark or self.mark, x=x or self.x, y=y or self.y, colour=colour)
        if chosen.mark not in MARKS:
            raise SpecRefused(f"The mark is one of {', '.join(MARKS)}.")
        for name in (chosen.x, chosen.y, chosen.colour or chosen.x):
            if name not in self.columns:
                raise SpecRefused(f"There is no column {name[:80]}.")
        return chosen

    def spec(self, columns: Columns) -> Spec:
        """Return the chart that is chosen."""
        return make_spec(self.mark, self.x, self.y, self.colour, columns)

    def shown(self) -> dict[str, Any]:
        """Return them as the API says them."""
        return asdict(self)


def given_spec(table: Mapping[str, Any]) -> tuple[Spec | None, str]:
    """Return the requested chart if it can be drawn, else one that fits, and why."""
    if asked := table.get("chart"):
        try:
            return check_spec(asked, table["columns"]), ""
        except SpecRefused as refusal:
            return default_spec(table["columns"]), f"{refusal} A different chart is shown."
    return default_spec(table["columns"]), ""


def choices_of(spec: Spec, columns: Columns) -> Choices | None:
    """Return what is chosen in a chart; None for one that is not made of such choices."""
    x, y, colour = (spec["encoding"].get(name, {}).get("field") for name in ("x", "y", "color"))
    mark = spec["mark"]["type"]
    if mark not in MARKS or x is None or y is None:
        return None
    names = tuple(str(column["name"]) for column in columns)
    kinds = kinds_of(columns)
    numbers = tuple(n for n, kind in zip(names, kinds, strict=True) if kind in NUMBER_KINDS)
    return Choices(mark, x, y, colour, names, numbers or names)
