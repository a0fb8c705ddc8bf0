"""Choose the port that a part listens on."""

import socket

from launch.errors import LaunchError

PORTS_TRIED = 50


def is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether a server could listen on `port` now; TIME_WAIT counts as free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def any_free_port(preferred: int | None = None) -> int:
    """Return `preferred` if it is free on loopback, otherwise a port that the system picks."""
    if preferred and is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def choose_port(
    setting: str, wanted: int | None, default: int, host: str, reserved: tuple[int, ...] = ()
) -> int:
    """Return the wanted port, which must be free, or the next free one from `default` if unset."""
    if wanted is not None:
        if wanted in reserved or not is_free(wanted, host):
            raise LaunchError(
                f"Port {wanted} on {host} is taken. Stop the program that listens there, or set "
                f"{setting} to another port; if it is unset, the next free one is used."
            )
        return wanted
    for port in range(default, default + PORTS_TRIED):
        if port not in reserved and is_free(port, host):
            return port
    raise LaunchError(
        f"No port from {default} to {default + PORTS_TRIED - 1} is free on {host}. Set {setting}."
    )
