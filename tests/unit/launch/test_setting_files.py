"""Settings whose values are in files."""

from pathlib import Path

import pytest

from backend.configuration import find_misspelt, read_settings
from backend.errors.base import ConfigurationError
from backend.storage.stores import open_bucket
from launch.environment import child_environment

URL = "postgresql+psycopg2://colloquy:secret@db/colloquy"


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_file_has_the_value_of_a_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "url").write_text(f"{URL}\n")
    (tmp_path / "urls").write_text('{"sales": "postgresql://sales"}')
    monkeypatch.setenv("DATABASE_URL_FILE", str(tmp_path / "url"))
    (tmp_path / ".env").write_text(f"SOURCE_URLS_FILE={tmp_path / 'urls'}\n")

    settings = read_settings()

    assert settings.database_url == URL
    assert list(settings.source_urls) == ["sales"]
    assert find_misspelt() == []


@pytest.mark.parametrize(
    ("content", "also", "said"),
    [
        (None, "", "No such file"),
        ("", "", "is empty"),
        (URL, URL, "DATABASE_URL and DATABASE_URL_FILE are both set"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: str | None, also: str, said: str
) -> None:
    place = tmp_path / "url"
    if content is not None:
        place.write_text(content)
    monkeypatch.setenv("DATABASE_URL_FILE", str(place))
    monkeypatch.setenv("DATABASE_URL", also)

    with pytest.raises(ConfigurationError, match=said):
        read_settings()


def test_a_part_that_is_told_a_value_is_not_told_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL_FILE", "/run/secrets/database")

    told = child_environment({"DATABASE_URL": URL})

    assert told["DATABASE_URL"] == URL
    assert "DATABASE_URL_FILE" not in told


def test_the_keys_of_a_bucket_may_be_in_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ARTIFACT_STORE", "s3://results")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY_FILE", str(tmp_path / "nowhere"))

    with pytest.raises(ConfigurationError, match="AWS_SECRET_ACCESS_KEY_FILE is not usable"):
        open_bucket(read_settings())
