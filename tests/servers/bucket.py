"""A server that speaks like S3, over a folder: of rclone."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.processes import free_port
from tests.stack import PROGRAMS

CERTIFICATES = "/etc/ssl/certs"  # tests leave them out elsewhere; this client insists on some


@contextmanager
def serve_bucket(home: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """Serve one bucket below `home`; give its folder, and the settings that lead there."""
    port = free_port()
    (home / "results").mkdir()
    key, secret = "analyst-key", "analyst-secret"
    with (home.parent / "rclone.log").open("wb") as told:
        server = subprocess.Popen(
            [PROGRAMS / "rclone", "serve", "s3", "--addr", f"127.0.0.1:{port}",
             "--config", "/dev/null", "--auth-key", f"{key},{secret}", "--vfs-cache-mode", "off",
             str(home)],
            stdout=told, stderr=told,
        )  # fmt: skip
        yield (
            home / "results",
            {
                "ARTIFACT_STORE": "s3://results/of/team",
                "ARTIFACT_INLINE_BYTES": "1000",
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ACCESS_KEY_ID": key,
                "AWS_SECRET_ACCESS_KEY": secret,
                "AWS_REGION": "us-east-1",
                "SSL_CERT_DIR": CERTIFICATES,
            },
        )
        server.terminate()
        server.wait()
