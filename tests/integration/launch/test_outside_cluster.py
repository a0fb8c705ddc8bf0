"""Root's PostgreSQL runs as another user, and outside a DATA_DIR that this user may not enter."""

import os
import shutil
import stat

import psutil
import pytest

from launch.errors import LaunchError
from launch.servers.leftovers import find_leftovers, leftover_text
from launch.servers.postgres import EmbeddedPostgres, running_url
from tests.integration.launch.launchers import ask

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become someone else")


def stopped_server(data_dir, table):
    """A server in a private folder, stopped, whose database has a table."""
    data_dir.parent.chmod(0o700)
    server = EmbeddedPostgres(data_dir)
    server.start()
    ask(server.url, f"CREATE TABLE {table} (x int)")
    server.stop()
    return server


@pytest.mark.chaos
def test_as_root_a_deleted_data_dir_begins_empty(home):
    server = stopped_server(home / "data", "old")
    shutil.rmtree(home / "data")
    again = EmbeddedPostgres(home / "data")
    again.start()
    try:
        assert ask(again.url, "SELECT to_regclass('old')") == [(None,)]
        assert again.cluster_folder == server.cluster_folder
        assert [left.folder.name[:11] for left in leftovers_of(again)] == ["left-behind"]
    finally:
        again.stop()
        shutil.rmtree(again.cluster_folder.parent)


def leftovers_of(server):
    parent = server.cluster_folder.parent
    return [left for left in find_leftovers() if left.folder.parent == parent]


@pytest.mark.chaos
def test_as_root_the_database_of_a_deleted_data_dir_is_named_and_removed_on_request(home):
    server = stopped_server(home / "data", "old")
    before = leftovers_of(server)
    shutil.rmtree(home / "data")

    (left,) = leftovers_of(server)
    said = leftover_text([left])
    left.remove()

    assert before == []
    assert str(server.cluster_folder) in said and str(home / "data") in said
    assert "python -m launch remove-leftovers" in said
    assert not left.is_running
    assert not server.cluster_folder.parent.exists()


@pytest.mark.chaos
def test_as_root_a_private_data_dir_stays_private(home):
    home.chmod(0o700)
    server = EmbeddedPostgres(home)
    server.start()
    try:
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert server.cluster_folder == EmbeddedPostgres(home).cluster_folder
        assert not server.cluster_folder.is_relative_to(home)
        assert psutil.Process(server.process.pid).username() == "nobody"
        assert running_url(home) == server.url
    finally:
        server.stop()
        shutil.rmtree(server.cluster_folder.parent)


@pytest.mark.chaos
def test_as_root_a_moved_data_dir_does_not_begin_empty(home):
    first = stopped_server(home / "data", "kept")
    (home / "data").rename(home / "moved")
    moved = EmbeddedPostgres(home / "moved")
    try:
        with pytest.raises(LaunchError, match="database is still in") as refused:
            moved.start()
        assert str(moved.cluster_folder) in refused.value.detail
        first.cluster_folder.rename(moved.cluster_folder)
        moved.start()
        assert ask(moved.url, "SELECT to_regclass('kept')") == [("kept",)]
    finally:
        moved.stop()
        shutil.rmtree(first.cluster_folder.parent)
        shutil.rmtree(moved.cluster_folder.parent)
