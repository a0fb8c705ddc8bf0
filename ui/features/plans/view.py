"""A plan in the chat: its picture, the tasks that ask, and the chosen task.

A fragment: looking at tasks leaves the rest of the page unchanged.
"""

import streamlit as st

from backend.schemas.tasks import Plan, PlanStatus, Task, TaskStatus
from ui import state
from ui.client import ClientError
from ui.features.plans import calls, graph, task_view
from ui.features.plans.words import look_of, plan_words, task_words
from ui.shared.text.markdown import plain

MEMORY = "plan-tasks"
MOST_ASKING = 10
MOST_FAILED = 5


def show(plan: Plan, key: str) -> None:
    """Draw a plan; a call of a sub-agent takes one line."""
    if plan.kind == "sub_agent" and plan.tasks:
        _sub_agent(plan.tasks[0], key)
    else:
        _plan(plan, key)


def _sub_agent(task: Task, key: str) -> None:
    look = look_of(task)
    what = plain(task.description or task.name, 80)
    label = f"**{plain(task.agent, 60)}** · {what} · {plain(task_words(task).partition(' · ')[2])}"
    is_running = task.status in (TaskStatus.RUNNING, TaskStatus.PENDING)
    is_running = is_running and not task.waiting_for_approval
    icon = "spinner" if is_running else look.icon
    with st.expander(label, key=f"agent-{key}", icon=icon, type="step"):
        task_view.show(task, f"{key}-{task.temp_id}")
    if task.status is TaskStatus.ASKING:
        task_view.show_question(task, f"ask-{key}")
    if task.waiting_for_approval:
        task_view.show_way_to_inbox([task], f"approve-{key}")


def _plan(given: Plan, key: str) -> None:
    drawn: list[bool] = []

    @st.fragment
    def draw() -> None:
        # A rerun by a click reads the newest state; otherwise the page has just read it.
        plan = _newest(given) if drawn else given
        drawn.append(True)
        _draw(plan, key)

    draw()


def _draw(plan: Plan, key: str) -> None:
    chosen: dict[str, str] = st.session_state.setdefault(MEMORY, {})

    def choose(temp_id: str) -> None:
        if chosen.get(key) == temp_id:
            chosen.pop(key)
        else:
            chosen[key] = temp_id

    with st.container(border=True, gap="xsmall", key=f"plan-{key}"):
        st.markdown(f":material/account_tree: **{plain(plan.name, 120)}**")
        st.caption(plan_words(plan))
        if plan.reasoning:
            st.caption(plain(plan.reasoning, 600))
        graph.show(plan, key, chosen.get(key), choose)
        task = next((one for one in plan.tasks if one.temp_id == chosen.get(key)), None)
        if task is None:
            st.caption("Choose a task to see its work and its result.")
        else:
            with st.container(border=True, gap="xsmall", key=f"chosen-{key}"):
                st.markdown(f"{look_of(task).icon} **{plain(task.name, 120)}**")
                before = [one.name for one in plan.tasks if one.temp_id in task.depends_on]
                task_view.show(task, f"{key}-{task.temp_id}", before)
        _what_went_wrong(plan, key, task)


def _what_went_wrong(plan: Plan, key: str, shown: Task | None) -> None:
    """Draw the tasks that ask, with their choices, and the failed ones, a sentence each."""
    asking = [task for task in plan.tasks if task.status is TaskStatus.ASKING]
    for task in asking[:MOST_ASKING]:
        task_view.show_question(task, f"ask-{key}-{task.temp_id}")
    if len(asking) > MOST_ASKING:
        st.caption(f"{len(asking) - MOST_ASKING} more tasks are asking; they appear after these.")
    if waiting := [task for task in plan.tasks if task.waiting_for_approval]:
        task_view.show_way_to_inbox(waiting, f"approve-{key}")
    failed = [task for task in plan.tasks if task.status is TaskStatus.FAILED and task != shown]
    for task in failed[:MOST_FAILED]:
        st.caption(f":material/error: {plain(task.name, 120)}: {task_view.failure_words(task)}")
    if len(failed) > MOST_FAILED:
        st.caption(f"{len(failed) - MOST_FAILED} more tasks have failed: see the picture.")


def _newest(plan: Plan) -> Plan:
    """Return the current plan; unchanged if it has ended or the service is unavailable."""
    if plan.status not in (PlanStatus.RUNNING, PlanStatus.WAITING):
        return plan
    try:
        listed = calls.list_plans(state.client(), plan.session_id)
    except ClientError:
        return plan
    return next((one for one in listed.items if one.id == plan.id), plan)
