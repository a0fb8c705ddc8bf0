"""Which commands a domain may start as tool servers, and with what environment."""

import pytest

from backend.domains.commands import Commands, refused_variable
from backend.schemas.domains.templates import StdioServer
from backend.settings import Settings


def commands(setting: str) -> Commands:
    return Commands.of(Settings(_env_file=None, stdio_commands=setting))


def faults(setting: str, command: str, *args: str, **env: str) -> list[str]:
    server = StdioServer(transport="stdio", command=command, args=list(args), env=env)
    return [field for field, _ in commands(setting).faults(server)]


ENTRIES = "/opt/ledger/server, uvx mcp-server-time ,python -m 'my server',"


@pytest.mark.parametrize(
    "words",
    [
        ["/opt/ledger/server"],
        ["/opt/ledger/server", "--any"],
        ["uvx", "mcp-server-time"],
        ["uvx", "mcp-server-time", "--local-timezone", "UTC"],
        ["python", "-m", "my server"],
    ],
)
def test_a_command_that_begins_as_an_entry_does_is_allowed(words: list[str]) -> None:
    assert faults(ENTRIES, *words) == []


@pytest.mark.parametrize(
    "words",
    [
        ["sh", "-c", "uvx mcp-server-time"],
        ["uvx"],
        ["uvx", "mcp-server-time2"],
        ["uvx", "--from", "evil", "mcp-server-time"],
        ["python", "-m", "my", "server"],
        ["python", "-c", "print()"],
        ["server"],
        ["/opt/ledger/../ledger/server"],
        ["/opt/ledger/server "],
        ["/opt/ledger/server --any"],
        ["UVX", "mcp-server-time"],
    ],
)
def test_nothing_else_is_allowed_however_alike(words: list[str]) -> None:
    assert faults(ENTRIES, *words) == ["command"]


def test_by_default_no_command_is_allowed_and_it_is_said_what_to_do() -> None:
    server = StdioServer(transport="stdio", command="sh")

    ((field, said),) = commands("").faults(server)

    assert field == "command"
    assert "'sh'" in said and "STDIO_COMMANDS" in said and said.endswith("restart.")


@pytest.mark.parametrize(
    "name",
    [
        "PATH", "path", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PYTHONPATH",
        "PYTHONSTARTUP", "NODE_OPTIONS", "BASH_ENV", "ENV", "PERL5LIB", "PERL5OPT", "RUBYOPT",
        "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT",
        "BASH_FUNC_ls%%", "npm_config_registry", "UV_INDEX_URL", "PIP_INDEX_URL", "HOME",
    ],
)  # fmt: skip
def test_what_changes_which_program_runs_may_not_be_set(name: str) -> None:
    server = StdioServer(transport="stdio", command="c", env={name: "x"})

    ((field, said),) = commands("c").faults(server)

    assert field == "env"
    assert name in said and str(refused_variable(name)) in said


def test_other_variables_may_be_set() -> None:
    assert faults("c", "c", TOKEN="x", LANG="de", TZ="UTC", PATHWAY="x", ENVIRONMENT="y") == []


@pytest.mark.parametrize("wrong", ["'open", 'a "b', "'' x"])
def test_an_entry_that_cannot_be_read_is_refused_at_the_start(wrong: str) -> None:
    with pytest.raises(ValueError, match="entry"):
        Settings(_env_file=None, stdio_commands=wrong)
