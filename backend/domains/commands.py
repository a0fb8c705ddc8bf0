"""Commands that tool servers may be started with: the operator allows them, a domain chooses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from backend.schemas.domains.templates import StdioServer
from backend.setting_kinds import split_commands
from backend.settings import Settings

PROGRAMS = "decides which programs run"
LIBRARIES = "decides which libraries are loaded"
CODE = "decides which code an interpreter runs"
PACKAGES = "decides which packages are fetched and run"
HELPERS = "names a program that is run"
FILES = "decides which configuration files are read"

# Environment variables that a domain must not set, because the operator allowed one command, not
# any program: names, or prefixes ending in *; case is ignored.
REFUSED_VARIABLES = {
    "PATH": PROGRAMS, "PATHEXT": PROGRAMS, "SHELL": PROGRAMS, "IFS": PROGRAMS,
    "LD_*": LIBRARIES, "DYLD_*": LIBRARIES, "GLIBC_*": LIBRARIES, "GCONV_*": LIBRARIES,
    "OPENSSL_*": LIBRARIES, "LIBPATH": LIBRARIES, "SHLIB_PATH": LIBRARIES,
    "PYTHON*": CODE, "NODE_OPTIONS": CODE, "NODE_PATH": CODE, "BUN_*": CODE, "DENO_*": CODE,
    "BASH_*": CODE, "ENV": CODE, "SHELLOPTS": CODE, "BASHOPTS": CODE, "PS4": CODE, "ZDOTDIR": CODE,
    "PROMPT_COMMAND": CODE, "PERL5*": CODE, "PERLLIB": CODE, "RUBY*": CODE, "GEM_*": CODE,
    "BUNDLE_*": CODE, "LUA_*": CODE, "PHPRC": CODE, "PHP_INI_SCAN_DIR": CODE, "CLASSPATH": CODE,
    "JAVA_HOME": CODE, "JAVA_TOOL_OPTIONS": CODE, "JDK_JAVA_OPTIONS": CODE, "_JAVA_OPTIONS": CODE,
    "DOTNET_*": CODE, "CORECLR_*": CODE, "COMPLUS_*": CODE, "VIRTUAL_ENV": CODE,
    "NPM_CONFIG_*": PACKAGES, "UV_*": PACKAGES, "PIP_*": PACKAGES, "PIPX_*": PACKAGES,
    "YARN_*": PACKAGES, "GOFLAGS": PACKAGES, "GOPROXY": PACKAGES,
    "GIT_*": HELPERS, "SSH_ASKPASS": HELPERS, "SUDO_*": HELPERS, "EDITOR": HELPERS,
    "VISUAL": HELPERS, "PAGER": HELPERS, "LESSOPEN": HELPERS, "BROWSER": HELPERS,
    "HOME": FILES, "XDG_*": FILES, "USERPROFILE": FILES, "APPDATA": FILES,
}  # fmt: skip


@dataclass(frozen=True)
class Commands:
    """The commands that the operator allows. `hidden`: files and folders no server may read."""

    entries: tuple[tuple[str, ...], ...] = ()
    hidden: tuple[Path, ...] = ()

    @classmethod
    def of(cls, settings: Settings) -> "Commands":
        """Return those of the settings; this installation's data and its `.env` are hidden."""
        hidden = (settings.data_dir.absolute(), Path(".env").absolute())
        return cls(split_commands(settings.stdio_commands), hidden)

    def faults(self, server: StdioServer) -> Iterator[tuple[str, str]]:
        """Yield each field that keeps the server from being started, and why, in a sentence."""
        if server.command.strip() and not self._allow([server.command, *server.args]):
            yield "command", self._not_allowed(server)
        for name in server.env:
            if reason := refused_variable(name):
                yield "env", f"its env may not set {name}, which {reason}; leave it out."

    def _allow(self, words: list[str]) -> bool:
        return any(tuple(words[: len(entry)]) == entry for entry in self.entries)

    def _not_allowed(self, server: StdioServer) -> str:
        if any(entry[0] == server.command for entry in self.entries):
            wrong = f"{server.command!r} is only allowed with other first arguments"
        else:
            wrong = f"the operator has not allowed the command {server.command!r}"
        return (
            f"{wrong}. Ask the operator to add it to STDIO_COMMANDS in the settings, with the"
            " arguments it must begin with, and to restart."
        )


def refused_variable(name: str) -> str | None:
    """Return why a domain may not set this variable; None if it may."""
    upper = name.upper()
    for rule, reason in REFUSED_VARIABLES.items():
        pattern = re.escape(rule).replace(r"\*", ".*")
        if re.fullmatch(pattern, upper, re.DOTALL):
            return reason
    return None
