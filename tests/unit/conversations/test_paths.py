"""Paths of branches: cut, closed and extended, against plain lists of positions."""

from hypothesis import given
from hypothesis import strategies as st

from backend.conversations.paths import WHOLE, Path

NEWEST = 60  # positions that the tested histories have


@st.composite
def paths(draw) -> Path:
    """Paths as forks and switches make them, over a history of NEWEST positions."""
    ends = sorted(draw(st.sets(st.integers(1, NEWEST), max_size=8)))
    closed = [tuple(ends[i : i + 2]) for i in range(0, len(ends) - 1, 2)]
    return Path(tuple(closed)).extend(draw(st.integers(ends[-1] + 1 if ends else 1, NEWEST + 1)))


def shown(path: Path) -> list[int]:
    return [p for first, last in path.close(NEWEST).ranges if last for p in range(first, last + 1)]


@given(paths())
def test_a_path_is_read_as_it_was_stored(path: Path) -> None:
    assert Path.read(path.dump()) == path


@given(paths())
def test_ranges_ascend_without_touching_each_other(path: Path) -> None:
    positions = shown(path)

    assert positions == sorted(set(positions))
    assert [p for p in range(1, NEWEST + 1) if path.has(p)] == positions
    assert path.has(NEWEST + 1_000)


@given(paths(), st.integers(1, NEWEST + 5))
def test_cut_keeps_what_lies_before(path: Path, position: int) -> None:
    assert shown(path.cut(position)) == [p for p in shown(path) if p < position]


@given(paths(), st.integers(0, NEWEST + 5))
def test_after_keeps_what_lies_behind(path: Path, position: int) -> None:
    assert shown(path.after(position)) == [p for p in shown(path) if p > position]


@given(paths(), st.integers(1, NEWEST))
def test_a_fork_shows_what_was_before_and_what_comes(path: Path, position: int) -> None:
    forked = path.close(NEWEST).cut(position).extend(NEWEST + 1)

    assert shown(forked) == [p for p in shown(path) if p < position]
    assert forked.has(NEWEST + 1)
    assert not any(forked.has(p) for p in range(position, NEWEST + 1))


@given(paths(), st.integers(0, 20))
def test_a_branch_that_is_taken_up_again_shows_what_it_did(path: Path, meanwhile: int) -> None:
    left = path.close(NEWEST)
    again = left.extend(NEWEST + meanwhile + 1)

    assert again.close(NEWEST + meanwhile).ranges == left.ranges
    assert again.has(NEWEST + meanwhile + 1)
    assert not any(again.has(p) for p in range(NEWEST + 1, NEWEST + meanwhile + 1))


def test_where_nobody_has_forked_all_is_shown() -> None:
    assert Path.read(None) == WHOLE
    assert WHOLE.close(3).ranges == ((1, 3),)
    assert WHOLE.after(7).ranges == ((8, None),)


def test_a_path_stays_one_range_where_it_goes_on_without_a_gap() -> None:
    assert WHOLE.close(9).extend(10) == WHOLE
    assert WHOLE.close(9).extend(12).ranges == ((1, 9), (12, None))


def test_nothing_is_shown_before_a_fork_at_the_first_message() -> None:
    path = WHOLE.cut(1).extend(5)

    assert path.ranges == ((5, None),)
    assert path.close(4).ranges == ()
