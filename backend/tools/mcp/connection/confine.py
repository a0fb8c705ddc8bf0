"""Becomes a tool server after dropping what it must not have: run as a separate program.

    python -I -S mcp_confine.py HIDDEN… -- /path/of/command ARGUMENT…

A tool server is third-party software, started by a worker that holds secrets. It is kept from other
processes' environments and memory (Landlock, capabilities, and a user namespace where mounts need
one), from the files of this installation (empty mounts over them), from gaining privileges
(no_new_privs) and from descriptors that it was not given. Whatever this machine does not support is
reported on standard error; the server starts all the same. Only the standard library is used: any
other import could run someone else's code.
"""

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Sequence

OPEN_FILES = 4096
CANNOT_RUN = 126

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 24, 38, 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
CAPABILITY_VERSION_3, LAST_CAPABILITY = 0x20080522, 63
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_RDONLY, MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 4, 4096, 16384, 1 << 18
# Landlock has the same numbers on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
ASK_VERSION, PATH_BENEATH = 1, 1
MAKE_BLOCK, REFER = 1 << 11, 1 << 13
ABSTRACT_SOCKETS, SIGNALS = 1, 2
SCOPES_SINCE = 6


def main(arguments: Sequence[str]) -> None:
    """Drop what the server must not have, then become it."""
    split = arguments.index("--")
    hidden, command = arguments[:split], arguments[split + 1 :]
    os.closerange(3, 65_536)
    _limit()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        missing = [
            *([] if _hide(libc, hidden) else ["hide the files of this installation from it"]),
            *([] if _isolate(libc) else ["keep it from other processes by Landlock"]),
        ]
    else:
        missing = ["confine it in any way"]
    if missing:
        warning = f"A tool server starts, but this machine cannot {', nor '.join(missing)}.\n"
        sys.stderr.write(warning)
        sys.stderr.flush()
    try:
        os.execv(command[0], [*command])  # noqa: S606  (the operator has allowed it)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be run: {error.strerror}\n")
        sys.exit(CANNOT_RUN)


def _limit() -> None:
    """Disable core files, which would contain its memory, and limit open files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _hide(libc: ctypes.CDLL, paths: Sequence[str]) -> bool:
    """Mount empty ones over these folders and files, for this process and its children only."""
    paths = [path for path in paths if os.path.exists(path)]
    if not paths:
        return True
    if libc.unshare(CLONE_NEWNS) and not _enter_user_namespace(libc):
        return False
    flags = MS_RDONLY | MS_NOSUID | MS_NODEV
    wrong = libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)
    for path in map(os.path.realpath, paths):
        if os.path.isdir(path):
            wrong |= libc.mount(b"none", path.encode(), b"tmpfs", flags, b"size=4k,mode=755")
        else:
            wrong |= libc.mount(b"/dev/null", path.encode(), None, MS_BIND, None)
    return not wrong


def _enter_user_namespace(libc: ctypes.CDLL) -> bool:
    """Enter a user namespace that keeps the user's id: mounts need one without root."""
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
        return False
    try:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
    except OSError:
        return False
    return True


def _isolate(libc: ctypes.CDLL) -> bool:
    """Drop all privileges permanently, and access to processes other than its children."""
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    locked = _lock_in(libc)
    for capability in range(LAST_CAPABILITY + 1):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    libc.capset(struct.pack("=Ii", CAPABILITY_VERSION_3, 0), bytes(24))
    return locked


def _lock_in(libc: ctypes.CDLL) -> bool:
    """Enter a Landlock domain: nothing in it may look into, or signal, a process outside."""
    version = libc.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION)
    if version < 1:
        return False
    if version >= SCOPES_SINCE:
        attributes = struct.pack("=QQQ", 0, 0, ABSTRACT_SOCKETS | SIGNALS)
    else:
        # A domain has to forbid something, but not moving files, which it would by default.
        attributes = struct.pack("=Q", MAKE_BLOCK | (REFER if version > 1 else 0))
    rules = libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        return False
    if 1 < version < SCOPES_SINCE:
        root = os.open("/", os.O_PATH | os.O_CLOEXEC)
        libc.syscall(ADD_RULE, rules, PATH_BENEATH, struct.pack("=Qi", REFER, root), 0)
        os.close(root)
    locked = bool(libc.syscall(RESTRICT_SELF, rules, 0) == 0)
    os.close(rules)
    return locked


if __name__ == "__main__":
    main(sys.argv[1:])
