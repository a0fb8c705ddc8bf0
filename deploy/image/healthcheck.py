"""The health check of a container: `python deploy/image/healthcheck.py [api | ui | worker]`.

It ends with 0 if the part is well. Without an argument the part is the one that the container was
started with.
"""

import http.client
import os
import sys
from pathlib import Path

# Of each part that goes on: the setting of its port, and where it says whether it is well.
PROBES = {
    "api": ("API_PORT", "/healthz"),
    "ui": ("UI_PORT", "/_stcore/health"),
    "worker": ("PROBE_PORT", "/readyz"),
}
SECONDS = 6  # a little longer than any of them takes to find out


def is_well(part: str) -> bool:
    """Return whether this container's part is well; what ends by itself always is."""
    if part not in PROBES:
        return True
    setting, path = PROBES[part]
    # By this name, which each of them accepts.
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ[setting]), timeout=SECONDS)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def started_with() -> str:
    """Return the last argument of the container's first process, which is the part's name."""
    return Path("/proc/1/cmdline").read_text().rstrip("\0").rpartition("\0")[2]


if __name__ == "__main__":
    sys.exit(not is_well(sys.argv[1] if sys.argv[1:] else started_with()))
