"""When Python looks for garbage: all turns and requests of a process wait meanwhile."""

import gc

EVERY = 10_000  # objects more than before; a turn or a stream that begins makes thousands


def collect_rarely() -> None:
    """Look for garbage rarely, and not among what is loaded by now: that stays."""
    gc.freeze()
    gc.set_threshold(EVERY)
