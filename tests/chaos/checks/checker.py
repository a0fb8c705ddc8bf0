"""Decides from a run's records which promises were broken; each violation is a sentence.

P15 and P24 have no rule of their own: they say that all others hold while Redis or a clock fails.
"""

from collections.abc import Callable, Mapping

from tests.chaos.checks import accepting as rules_accepting
from tests.chaos.checks import approvals as rules_approvals
from tests.chaos.checks import effects as rules_effects
from tests.chaos.checks import history as rules_history
from tests.chaos.checks import stream as rules_stream
from tests.chaos.checks import turns as rules_turns
from tests.chaos.staging.records import History

Rule = Callable[[History], list[str]]

PROMISES: Mapping[str, Rule] = {
    "P1": rules_accepting.accepted_is_durable,
    "P2": rules_accepting.submit_is_idempotent,
    "P3": rules_turns.one_effective_writer,
    "P4": rules_turns.one_active_turn,
    "P5": rules_turns.every_turn_ends,
    "P6": rules_turns.a_step_is_atomic,
    "P7": rules_history.state_is_linear,
    "P8": rules_history.history_is_append_only,
    "P9": rules_history.order_is_kept,
    "P10": rules_history.state_is_valid,
    "P11": rules_effects.recorded_steps_run_once,
    "P12": rules_effects.only_complete_calls_run,
    "P13": rules_effects.stop_means_stop,
    "P14": rules_stream.stream_is_history,
    "P16": rules_accepting.an_outage_is_clean,
    "P17": rules_turns.lost_turns_start_again,
    "P18": rules_turns.poison_is_bounded,
    "P19": rules_accepting.refusals_say_when,
    "P20": rules_accepting.sessions_open,
    "P21": rules_approvals.a_decision_applies_once,
    "P25": rules_accepting.deleted_stays_deleted,
}


def check(history: History) -> list[str]:
    """All violations, each with the promise that it breaks."""
    return [
        f"{promise}: {violation}"
        for promise, rule in PROMISES.items()
        for violation in rule(history)
    ]
