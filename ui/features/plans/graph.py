"""The picture of a plan, which the browser draws in place (`ui/assets/plan.js`)."""

from collections.abc import Callable

import streamlit as st

from backend.schemas.tasks import Plan
from ui import state
from ui.features.plans.layout import HEIGHT, WIDTH, lay_out
from ui.features.plans.words import look_of, plan_words
from ui.shared import assets

HTML = (
    '<div class="colloquy-plan" role="group" tabindex="0"><div class="canvas">'
    '<svg aria-hidden="true"></svg></div></div>'
)

_component = st.components.v2.component(
    "colloquy_plan", html=HTML, js=assets.loader("plan.js"), isolate_styles=False
)


def show(plan: Plan, key: str, chosen: str | None, choose: Callable[[str], None]) -> None:
    """Draw a plan's tasks and their dependencies; `choose` is called with a clicked task."""
    picture = lay_out(plan.tasks)
    tasks = []
    for task in plan.tasks:
        look = look_of(task)
        x, y = picture.places[task.temp_id]
        tasks.append({
            "id": task.temp_id, "x": x, "y": y, "name": task.name, "agent": task.agent,
            "status": str(task.status), "word": look.word, "sign": look.sign,
            "colour": look.colour,
        })  # fmt: skip
    name = f"graph-{key}"
    _component(
        key=name,
        data={
            "tasks": tasks,
            "lines": picture.lines,
            "width": picture.width,
            "height": picture.height,
            "nodeWidth": WIDTH,
            "nodeHeight": HEIGHT,
            "label": f"Plan {plan.name}: {plan_words(plan)}",
            "chosen": chosen,
        },
        on_chosen_change=lambda: _choose(name, choose),
    )


def _choose(name: str, choose: Callable[[str], None]) -> None:
    if chosen := state.told_by(name, "chosen"):
        choose(str(chosen))
