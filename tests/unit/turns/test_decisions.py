"""What may be decided on a call, and what tells its arguments from others."""

from hypothesis import given
from hypothesis import strategies as st

from backend.agents.answers import hash_arguments
from backend.types import JSON
from colloquy_kit.messages.arguments import parse_arguments, write_arguments

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), VALUES, max_size=5))
def test_arguments_have_one_hash_however_they_are_written_and_read(arguments: JSON) -> None:
    written = write_arguments(arguments)
    turned = dict(reversed(parse_arguments(written).items()))

    assert hash_arguments(turned) == hash_arguments(parse_arguments(written))


def test_other_arguments_have_another_hash() -> None:
    some: list[JSON] = [{}, {"a": 1}, {"a": 1.5}, {"a": "1"}, {"a": None}, {"a": [1]}, {"b": 1}]

    assert len({hash_arguments(arguments) for arguments in some}) == len(some)
