"""What is sealed opens in every process of the installation, and together with its address only."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from backend.connections.keyring import FILE, Keyring
from backend.errors.models import KeyUnreadable
from backend.settings import Settings

OWN = "x6Zxzm2YwXv6WJ6oXk2nYl4cbb5ZTbV7k8c7aQ9k5uA="
HERE, THERE = "https://here.example/v1", "https://there.example/v1"


@pytest.fixture
def settings(tmp_path):
    return Settings(_env_file=None, data_dir=tmp_path)


def test_all_who_seal_at_once_use_one_key(settings):
    with ThreadPoolExecutor(8) as threads:
        sealed = list(threads.map(lambda _: Keyring(settings).seal("secret", HERE), range(8)))

    assert {Keyring(settings).open(text, HERE) for text in sealed} == {"secret"}
    assert [path.name for path in settings.data_dir.iterdir()] == [FILE]


def test_it_opens_for_no_other_address(settings):
    sealed = Keyring(settings).seal("secret", HERE)

    with pytest.raises(KeyUnreadable):
        Keyring(settings).open(sealed, THERE)


def test_a_key_of_the_settings_leaves_no_file(settings):
    own = settings.model_copy(
        update={"encryption_key": Settings(encryption_key=OWN).encryption_key}
    )

    sealed = Keyring(own).seal("secret", HERE)

    assert Keyring(own).open(sealed, HERE) == "secret"
    assert not list(settings.data_dir.iterdir())
    with pytest.raises(KeyUnreadable, match=FILE):
        Keyring(settings).open(sealed, HERE)
