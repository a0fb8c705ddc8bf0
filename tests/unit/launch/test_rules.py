"""The launcher's rules: ports, restarts, environments and settings, without starting anything."""

import io
import os
import re
import socket
from pathlib import Path

import pytest

from backend.addresses import Address
from backend.configuration import find_misspelt, read_settings
from backend.errors.base import ConfigurationError
from backend.settings import Settings
from launch import parts
from launch.console import Console
from launch.environment import server_urls
from launch.errors import LaunchError
from launch.folders import make_folder
from launch.pages import pages_flags
from launch.ports import choose_port, is_free
from launch.private_files import FolderLock, password_in
from launch.record import StackRecord, read_record, stack_lock, write_record
from launch.supervision.restarts import MOST_CRASHES, RestartPolicy


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_that_was_set_and_is_taken_is_named(taken):
    with pytest.raises(LaunchError, match=rf"Port {taken} on 127\.0\.0\.1 is taken.*UI_PORT"):
        choose_port("UI_PORT", taken, 8501, "127.0.0.1")


def test_an_unset_port_is_the_next_free_one(taken):
    chosen = choose_port("UI_PORT", None, taken, "127.0.0.1")

    assert taken < chosen
    assert is_free(chosen)


def test_two_parts_never_get_one_port(taken):
    first = choose_port("UI_PORT", None, taken, "127.0.0.1")

    assert choose_port("API_PORT", None, taken, "127.0.0.1", reserved=(first,)) > first
    with pytest.raises(LaunchError, match="API_PORT"):
        choose_port("API_PORT", first, taken, "127.0.0.1", reserved=(first,))


def test_crashes_are_followed_by_growing_pauses_then_by_giving_up():
    policy = RestartPolicy()
    delays = [policy.delay_after_end(1, float(second)) for second in range(MOST_CRASHES)]

    assert delays == [0.2, 0.4, 0.8, 1.6, None]


def test_crashes_far_apart_are_accidents():
    policy = RestartPolicy()

    assert {policy.delay_after_end(1, hour * 3600.0) for hour in range(100)} == {0.2}


@pytest.mark.parametrize("status", [0, -9, -15])
def test_parts_that_are_killed_or_drained_come_back_each_time(status):
    policy = RestartPolicy()

    assert {policy.delay_after_end(status, float(second)) for second in range(100)} == {0.2}


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "COLLOQUY_SECRET_A", "GITHUB_TOKEN", "JIRA"])
def test_pages_and_demo_model_get_no_credentials(name, monkeypatch):
    monkeypatch.setenv(name, "canary")
    found = {"DATABASE_URL": "postgresql://canary", "API_URL": "http://x", "REDIS_URL": "canary"}

    pages, demo_model = parts.ui(Address("127.0.0.1", 1), found, {}).env, parts.demo(2).env

    assert pages["API_URL"] == "http://x"
    assert pages["PATH"] == demo_model["PATH"] == os.environ["PATH"]
    assert "canary" not in " ".join((*pages.values(), *demo_model.values()))


def test_pages_log_as_the_settings_say():
    settings = Settings(_env_file=None, log_level="ERROR", log_format="json")

    command = parts.ui(Address("127.0.0.1", 1), {}, pages_flags(settings)).command

    assert {"--log-level=ERROR", "--log-format=json"} <= set(command)


def test_a_part_alone_without_servers_says_what_to_do(tmp_path):
    settings = Settings(_env_file=None, data_dir=tmp_path, database_url="", redis_url="")

    with pytest.raises(LaunchError, match=r"Start `make run` first, or set DATABASE_URL"):
        server_urls(settings)


def test_a_record_without_its_stack_is_not_believed(tmp_path):
    write_record(tmp_path, StackRecord("http://u", "http://a"))
    lock = stack_lock(tmp_path)
    assert read_record(tmp_path) is None

    assert lock.acquire()
    assert read_record(tmp_path) == StackRecord("http://u", "http://a")
    lock.release()
    assert read_record(tmp_path) is None


def test_a_lock_is_held_once_and_again_by_its_holder(tmp_path):
    lock, other = FolderLock(tmp_path / "lock"), FolderLock(tmp_path / "lock")

    assert lock.acquire()
    assert lock.acquire()
    assert not other.acquire()
    lock.release()
    assert other.acquire()


def test_a_password_is_made_once(tmp_path):
    password = password_in(tmp_path / "password")

    assert len(password) >= 32
    assert password_in(tmp_path / "password") == password


def test_folders_that_exist_keep_their_modes(tmp_path):
    tmp_path.chmod(0o750)
    make_folder(tmp_path / "a" / "b")

    assert tmp_path.stat().st_mode & 0o777 == 0o750
    assert (tmp_path / "a").stat().st_mode & 0o077 in (0, 0o011)


@pytest.mark.parametrize(
    "folder", ["/proc/x/y", "/dev/null", "/dev/null/x", "/tmp/" + "x" * 300, "/proc"]
)
def test_a_folder_that_cannot_be_used_is_named(folder):
    with pytest.raises(LaunchError, match=rf"The folder {folder} cannot be used: .*DATA_DIR"):
        make_folder(Path(folder))


def test_output_that_is_no_terminal_has_whole_plain_lines():
    stream = io.StringIO()
    console = Console(stream)
    console.progress("starting")
    console.part("api", "listening")
    console.announce("ready")

    assert stream.getvalue() == "starting ...\n      api | listening\n\nready\n\n"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("HOST", "0.0.0.0", "only a loopback address is allowed"),
        ("HOST", "example.org", "only a loopback address is allowed"),
        ("AUTH", "password", "AUTH is not usable: must be none, or a list of local, oidc, proxy"),
        ("AUTH", "local,none", "AUTH is not usable: must be none, or a list of local, oidc, proxy"),
        ("UI_PORT", "0", "UI_PORT is not usable"),
        ("API_PORT", "65536", "API_PORT is not usable"),
        ("API_PORT", "http", "API_PORT is not usable"),
        ("WORKERS", "-1", "WORKERS is not usable"),
        ("DATABASE_URL", "mysql://u:canary@h/d", "DATABASE_URL is not usable: must begin with"),
        ("DATABASE_URL", "postgres://u:canary@h:port/d", "DATABASE_URL is not usable"),
        ("DATABASE_URL", "postgres://u:can@ary@h/d", "DATABASE_URL .*: percent-encode @ in the"),
        ("DATABASE_URL", "postgres://u:can/ary@h/d", "DATABASE_URL .* percent-encode special"),
        ("DATABASE_URL", "postgres://u:canary@h/d?ssl_mode=no", 'connection option "ssl_mode"'),
        ("REDIS_URL", "redis://:can#ary@h/0", "REDIS_URL .* percent-encode special"),
        ("REDIS_URL", "rediss://:canary@h/0?ssl_ca_cert=x", "REDIS_URL .* argument 'ssl_ca_cert'"),
        ("REDIS_URL", "rediss://:canary@h/0?ssl_cert_reqs=x", "REDIS_URL .* SSL Certificate"),
        ("REDIS_URL", "redis://:canary@h/0?socket_timeout=x", "REDIS_URL .*'socket_timeout'"),
        ("REDIS_URL", "localhost:6379", "REDIS_URL is not usable: must begin with redis://"),
        (
            "REDIS_URL",
            "sentinel://:canary@a/m/0",
            "must begin with redis:// .* redis\\+sentinel://",
        ),
        ("REDIS_URL", "redis+sentinel://:canary@a:1,b:1/0/0/0", "must name the master as its Sent"),
        ("REDIS_URL", "redis+sentinel://:canary@a:1,b:1", "must name the master as its Sentinels"),
        ("REDIS_URL", "redis+sentinel://:canary@a:1,b:x/m/0", "has a Sentinel that cannot be read"),
        ("REDIS_URL", "redis+sentinel://:canary@a:1,/m/0", "has a Sentinel that cannot be read"),
        ("REDIS_URL", "redis+sentinel://:canary@a:70000/m", "has a Sentinel that cannot be read"),
        ("REDIS_URL", "redis+sentinel://:can/ary@a/m/0", "REDIS_URL is not usable"),
        ("REDIS_URL", "redis+sentinel://:can@ary@a/m/0", "REDIS_URL .* percent-encode special"),
        ("REDIS_URL", "redis+sentinel://:can#ary@a/m/0", "REDIS_URL .* percent-encode special"),
        ("REDIS_URL", "redis+sentinel://a/m/0?sentinel_ssl=canary", "argument 'sentinel_ssl'"),
        ("REDIS_URL", "redis+sentinel://a/m/0?socket_timeout=x", "REDIS_URL .*'socket_timeout'"),
        ("OPENAI_BASE_URL", "localhost", "OPENAI_BASE_URL is not usable"),
        ("OPENAI_BASE_URL", "https://u:canary@h/v1?api-version=1", "must end with its path"),
        (
            "OPENAI_API_KEY",
            "schlüssel canary",
            "OPENAI_API_KEY is not usable: has spaces or charac",
        ),
        ("ENCRYPTION_KEY", "canary", "ENCRYPTION_KEY is not usable: must be 32 random bytes"),
        ("SOURCE_URLS", "{", "SOURCE_URLS must be a JSON object"),
        ("SOURCE_URLS", '{"a": 1, "b": {"canary": 2}}', "SOURCE_URLS"),
        ("SOURCE_URLS", "canary", 'SOURCE_URLS must be a JSON object, such as {"sales": "postgres'),
        ("MODEL_PRICES", "canary", 'MODEL_PRICES must be a JSON object, such as {"gpt-4o": {"inp'),
        ("MODEL_PRICES", '{"m": {"input": 1e999}}', "MODEL_PRICES.m.input is not usable"),
        ("RETENTION_DAYS", "99999999", "RETENTION_DAYS is not usable: input should be less than"),
        ("RETENTION_MEGABYTES", "9" * 30, "RETENTION_MEGABYTES is not usable"),
        ("RETENTION_HOURS", "1e300", "RETENTION_HOURS is not usable"),
        ("LEASE_SECONDS", "inf", "LEASE_SECONDS is not usable"),
        ("LEASE_SECONDS", "0.001", "LEASE_SECONDS is not usable: input should be greater than"),
        ("SOURCE_URLS", '{"a": "canary"}', "SOURCE_URLS is not usable: names no database for 'a'"),
        ("SOURCE_URLS", '{" ": "sqlite:///x"}', "SOURCE_URLS is not usable: has an entry without"),
        ("SWEEP_SECONDS", "nan", "SWEEP_SECONDS is not usable"),
        ("USER_TOKENS_PER_DAY", "9" * 30, "USER_TOKENS_PER_DAY is not usable"),
        ("MODEL_PRICES", '{"m": {"in": 2}}', "MODEL_PRICES.m.in is not usable: there is no such"),
        ("MODEL_PRICES", '{"m": 3}', "MODEL_PRICES.m is not usable: must be a JSON object"),
        ("REDIS_URL", "redis://:canary@h/prod", "REDIS_URL is not usable: must name the database"),
        ("DOMAIN_SECRETS", "CANARY@h:99999", "DOMAIN_SECRETS is not usable"),
        ("DATA_DIR", "~nobody-of-that-name/x", "DATA_DIR is not usable: begins with ~"),
    ],
)
def test_a_wrong_setting_is_one_sentence_without_its_secret(monkeypatch, name, value, sentence):
    monkeypatch.setenv(name, value)

    with pytest.raises(ConfigurationError, match=sentence) as raised:
        read_settings()
    assert not {"canary", "can", "ary"} & set(re.findall(r"\w+", raised.value.detail))
    assert "\n" not in raised.value.detail


def test_a_file_of_settings_in_another_encoding_is_named(monkeypatch, tmp_path):
    (tmp_path / ".env").write_bytes("# für alle\nUI_PORT=8600\n".encode("latin-1"))
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ConfigurationError, match=r"`\.env` is not encoded in UTF-8"):
        read_settings()


def test_a_name_that_is_almost_a_settings_is_told(monkeypatch, tmp_path):
    names = "UI_PORRT=8600\nREDIS_URI=redis://localhost/1\nui_port=8600\nJIRA_TOKEN=x\n"
    (tmp_path / ".env").write_text(names)
    monkeypatch.chdir(tmp_path)

    assert find_misspelt() == [
        "`.env` sets UI_PORRT, which is not a setting. Did you mean UI_PORT?",
        "`.env` sets REDIS_URI, which is not a setting. Did you mean REDIS_URL?",
    ]


def test_a_tilde_is_the_home_folder_as_in_a_shell(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert Settings(_env_file=None, data_dir="~/desk").data_dir == tmp_path / "desk"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg2"])
def test_each_spelling_of_postgresql_uses_the_same_driver(scheme):
    settings = Settings(_env_file=None, database_url=f"{scheme}://u:p@h:5432/d?sslmode=require")

    assert settings.database_url == "postgresql+psycopg2://u:p@h:5432/d?sslmode=require"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "localhost", "::1"])
def test_loopback_hosts_are_allowed_without_accounts(host):
    assert Settings(_env_file=None, host=host).host == host


def test_an_address_may_have_the_brackets_of_a_url():
    assert Settings(_env_file=None, host="[::1]").host == "::1"


def test_blanks_around_a_value_are_no_part_of_it():
    settings = Settings(_env_file=None, model=" ", openai_api_key="sk-1\n", openai_base_url="")

    assert (settings.default_model, settings.openai_api_key.get_secret_value()) == (
        "gpt-4o",
        "sk-1",
    )
