"""What is read as a source lies in its folder, wherever links lead."""

import pytest

from backend.data.errors import SourceUnusable
from backend.data.files.folder import OUTSIDE
from backend.data.files.readers import fill_snapshot
from backend.data.origins import Origins

KEY = "canary\n1\n"


@pytest.fixture
def data_dir(tmp_path):
    """A DATA_DIR with a key, whose folder of sources is itself reached by a link."""
    (tmp_path / "encryption.key").write_text(KEY)
    (tmp_path / "mounted" / "more").mkdir(parents=True)
    (tmp_path / "mounted" / "plain.csv").write_text("a\n1\n")
    (tmp_path / "sources").symlink_to(tmp_path / "mounted")
    return tmp_path


def link(data_dir, name, target):
    (data_dir / "sources" / name).symlink_to(target)


def test_a_link_that_leads_out_of_the_folder_is_listed_with_its_reason(data_dir):
    link(data_dir, "absolute.csv", data_dir / "encryption.key")
    link(data_dir, "more/relative.csv", "../../encryption.key")
    link(data_dir, "chained.csv", data_dir / "sources" / "absolute.csv")
    link(data_dir, "inside.csv", "plain.csv")
    link(data_dir, "folder", data_dir)

    found = Origins(data_dir, {}).find_all()

    problems = {name: one.problem for name, one in found.items() if one.path}
    assert problems == {
        "plain": None,
        "inside": None,
        "absolute": OUTSIDE,
        "chained": OUTSIDE,
        "more_relative": OUTSIDE,
    }


def test_a_file_that_has_become_a_link_since_it_was_listed_is_not_read(data_dir):
    origin = Origins(data_dir, {}).find_all()["plain"]
    origin.path.unlink()
    origin.path.symlink_to(data_dir / "encryption.key")
    (data_dir / "snapshot").mkdir()

    with pytest.raises(SourceUnusable, match="not followed"):
        fill_snapshot(data_dir / "snapshot" / "s.duckdb", "plain", origin.path, origin.folder)

    left = [path.read_text() for path in (data_dir / "snapshot").iterdir()]
    assert KEY not in left
