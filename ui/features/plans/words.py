"""Words and signs for the status of tasks and plans. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from backend.markdown.cells import ARTIFACT, Target, read_target
from backend.schemas.tasks import Plan, Task, TaskStatus
from ui.shared.formats import reader


@dataclass(frozen=True)
class Look:
    """How a status is shown: a word, a sign in texts, and a Streamlit icon and colour."""

    word: str
    sign: str
    icon: str
    colour: str


LOOKS: Mapping[TaskStatus, Look] = {
    TaskStatus.PENDING: Look("waiting", "○", ":material/schedule:", "gray"),
    TaskStatus.RUNNING: Look("running", "▸", ":material/play_arrow:", "blue"),
    TaskStatus.ASKING: Look("asks you", "?", ":material/help:", "orange"),
    TaskStatus.SUCCEEDED: Look("done", "✓", ":material/check:", "green"),
    TaskStatus.FAILED: Look("failed", "✕", ":material/error:", "red"),
    TaskStatus.SKIPPED: Look("skipped", "↷", ":material/skip_next:", "gray"),
    TaskStatus.STOPPED: Look("stopped", "■", ":material/stop_circle:", "gray"),
}
APPROVAL = Look("needs approval", "!", ":material/approval:", "orange")


def look_of(task: Task) -> Look:
    """Return how a task is shown; one that waits for a decision has its own word."""
    return APPROVAL if task.waiting_for_approval else LOOKS[task.status]


def waits_for_people(task: Task) -> bool:
    """Return whether a task goes on only after a person's decision."""
    return task.status is TaskStatus.ASKING or task.waiting_for_approval


def plan_words(plan: Plan) -> str:
    """Return a plan's progress: how many tasks are done, and how many are in other states."""
    waiting = sum(task.waiting_for_approval for task in plan.tasks)
    counts = Counter(task.status for task in plan.tasks)
    counts[TaskStatus.RUNNING] -= waiting
    done, total = counts[TaskStatus.SUCCEEDED], len(plan.tasks)
    words = [f"{done} of {total} {'task' if total == 1 else 'tasks'} done"]
    others = [status for status in LOOKS if status is not TaskStatus.SUCCEEDED]
    words += [_count(counts[status], status) for status in others if counts[status]]
    if waiting:
        words.append(f"{waiting} {'needs' if waiting == 1 else 'need'} approval")
    return " · ".join(words)


def _count(count: int, status: TaskStatus) -> str:
    if status is TaskStatus.ASKING:
        return f"{count} {'asks' if count == 1 else 'ask'} you"
    return f"{count} {LOOKS[status].word}"


def task_words(task: Task, now: datetime | None = None, *, with_status: bool = True) -> str:
    """Return a task's agent, status, progress and time.

    Without the status, for use beside it, the time is shown only once the task has ended.
    """
    words = [task.agent, *([look_of(task).word] if with_status else [])]
    if task.status is TaskStatus.RUNNING and task.steps:
        words.append(f"step {task.steps}")
    if task.tries > 1:
        words.append(f"try {task.tries}")
    seconds = seconds_taken(task, now)
    if seconds is not None and (with_status or task.finished_at is not None):
        words.append(reader.duration(seconds))
    return " · ".join(words)


def seconds_taken(task: Task, now: datetime | None = None) -> float | None:
    """Return the seconds a task has run, until its end or until now; None: it has not begun."""
    if task.started_at is None:
        return None
    end = task.finished_at or now or datetime.now(UTC)
    return max(0.0, (end - task.started_at).total_seconds())


def answer_text(output: object) -> str | None:
    """Return the text of a task's answer, if its output is or contains one."""
    if isinstance(output, str):
        return output
    if isinstance(output, Mapping):
        for name in ("text", "answer", "message", "response"):
            if isinstance(text := output.get(name), str) and text.strip():
                return text
    return None


def made_artifacts(output: object) -> list[tuple[str, Target]]:
    """Return the artifacts that a task's output names, as titles and targets."""
    listed = output.get("artifacts") if isinstance(output, Mapping) else None
    found = []
    for one in listed if isinstance(listed, list) else []:
        if isinstance(one, Mapping):
            target = read_target({ARTIFACT: f"{one.get('id')}@{one.get('version')}"})
            if target is not None:
                found.append((str(one.get("title") or "Artifact"), target))
    return found
