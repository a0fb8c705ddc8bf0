"""The supervisor with real servers and small stand-ins for the parts, as a process of its own."""

import signal
import socket
import time
import urllib.request

import psutil
import pytest

from launch.servers.postgres import running_url
from tests.integration.launch.launchers import wait_until
from tests.servers.real import command_of


def get(url: str) -> int:
    with urllib.request.urlopen(url, timeout=20) as answer:
        return answer.status


def gone(processes: list[psutil.Process], seconds: float = 30) -> bool:
    return psutil.wait_procs(processes, timeout=seconds)[1] == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_and_leaves_nothing(start, number):
    stack = start()
    stack.wait_for("Colloquy is ready: http://127.0.0.1:")
    parts = stack.parts()
    assert get(stack.record()["ui_url"]) == 200

    assert stack.stop(number) == 0
    assert len(parts) > 6
    assert gone(parts)
    assert not list(stack.data_dir.glob("**/url"))
    assert not (stack.data_dir / "stack.json").exists()


def test_everything_ends_with_a_launcher_that_was_killed(start):
    stack = start()
    stack.wait_for("Colloquy is ready")
    parts = stack.parts()
    stack.process.kill()
    stack.process.wait()

    assert gone(parts)
    again = start()
    again.wait_for("Colloquy is ready")


@pytest.mark.chaos
def test_a_second_signal_kills(start):
    stack = start(STUBBORN="1")
    stack.wait_for("Colloquy is ready")
    parts = stack.parts()
    stack.process.send_signal(signal.SIGINT)
    stack.wait_for("stopping")
    time.sleep(0.8)

    assert stack.stop() == 130
    assert gone(parts)


@pytest.mark.chaos
def test_a_signal_that_make_passes_on_too_is_one_request(start):
    stack = start()
    stack.wait_for("Colloquy is ready")
    stack.process.send_signal(signal.SIGTERM)

    assert stack.stop(signal.SIGTERM) == 0
    assert "Colloquy has stopped" in stack.said()


@pytest.mark.chaos
def test_parts_that_crash_are_started_again(start):
    stack = start()
    stack.wait_for("Colloquy is ready")
    for mark in ("stand_in_worker", "stand_in_ui", "redis-server", "bin/postgres"):
        killed = stack.part(mark)
        killed.kill()
        wait_until(lambda process=killed: not process.is_running())
        wait_until(lambda mark=mark: stack.find(mark) is not None)
    wait_until(lambda: stack.said().count("restarting it") == 4)

    assert stack.process.poll() is None
    assert stack.stop() == 0


@pytest.mark.chaos
def test_parts_come_back_while_the_database_recovers(start):
    stack = start()
    stack.wait_for("Colloquy is ready")
    database = stack.part("bin/postgres")
    (keeper,) = [one for one in database.children() if "checkpointer" in str(command_of(one))]
    keeper.suspend()  # it holds the memory that they share, without which no other one starts
    database.kill()
    stack.wait_for("ended with status -9; restarting it")
    for mark in ("stand_in_worker", "redis-server"):
        killed = stack.part(mark)
        killed.kill()
        wait_until(lambda process=killed: not process.is_running())
        wait_until(lambda mark=mark: stack.find(mark) is not None)

    assert keeper.is_running() and running_url(stack.data_dir) is None
    keeper.resume()
    wait_until(lambda: running_url(stack.data_dir) is not None)
    assert stack.stop() == 0


@pytest.mark.chaos
def test_a_part_that_keeps_crashing_ends_the_stack_with_its_last_lines(start):
    stack = start(CRASH="worker")
    stack.wait_for("so Colloquy stops", seconds=30)

    assert stack.process.wait(30) == 1
    assert "the reason of the crash" in stack.said().partition("so Colloquy stops")[2]


@pytest.mark.chaos
def test_a_migration_that_fails_ends_the_stack(start):
    stack = start(CRASH="migrate")

    assert stack.process.wait(30) == 1
    assert "migrate ended with status 3" in stack.said()
    assert "is ready" not in stack.said()


@pytest.mark.chaos
def test_a_second_stack_of_one_data_dir_names_the_first(start):
    first = start()
    first.wait_for("Colloquy is ready")
    second = start()

    assert second.process.wait(30) == 1
    assert f"Open {first.record()['ui_url']}" in second.said()
    assert get(first.record()["api_url"]) == 200


def test_a_taken_port_that_was_set_is_one_sentence(start):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        stack = start(UI_PORT=str(port))

        assert stack.process.wait(30) == 1
    assert stack.said().count("\n") == 1
    assert f"Port {port} on 127.0.0.1 is taken" in stack.said()
    assert not (stack.data_dir / "postgres").exists()


def test_a_host_that_others_reach_is_refused(start):
    stack = start(HOST="0.0.0.0")

    assert stack.process.wait(30) == 1
    assert stack.said().startswith("HOST=0.0.0.0: with AUTH=none")
    assert stack.said().count("\n") == 1
