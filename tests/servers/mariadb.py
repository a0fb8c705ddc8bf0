"""A MariaDB server for tests, where one is installed: on loopback, in a temporary folder."""

import fcntl
import os
import shutil
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

import pymysql

from tests.processes import free_port

START_SECONDS = 40
NOT_INSTALLED = "no MariaDB here: `apt-get install mariadb-server` to run this test"
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
_SERVER = shutil.which("mariadbd", path=_PATH)
_INSTALLER = shutil.which("mariadb-install-db", path=_PATH)
IS_INSTALLED = bool(_SERVER and _INSTALLER)

_ORDERS = """
CREATE DATABASE shop;
CREATE TABLE shop.orders (id INT PRIMARY KEY, amount DECIMAL(12,2), note VARCHAR(20));
INSERT INTO shop.orders SELECT seq, seq / 2, '100% :x' FROM shop.seq_1_to_5000;
CREATE USER reader@'%' IDENTIFIED BY 'hunter2';
GRANT ALL ON shop.* TO reader@'%';
"""


class MariaDb:
    """One server with a table `orders` of 5,000 rows, and a user who may do all in it."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="colloquy-mariadb-")
        self._home = Path(self._folder.name)
        self.port = free_port()

    def url(self, kind: str = "mariadb", port: int | None = None) -> str:
        """The SQLAlchemy URL without a driver's name; another port is that of a proxy."""
        return f"{kind}://reader:hunter2@127.0.0.1:{port or self.port}/shop"

    def __enter__(self) -> "MariaDb":
        # The server refuses to run as root.
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user:
            shutil.chown(self._home, self._user)
        start = self._home / "start.sql"
        start.write_text("\n".join(_statements(_ORDERS)))
        start.chmod(0o644)
        place = f"--datadir={self._home / 'data'}"
        self._install(place)
        self._process = subprocess.Popen(
            [_SERVER, "--no-defaults", place, f"--socket={self._home / 's'}", "--skip-networking=0",
             f"--port={self.port}", "--bind-address=127.0.0.1", f"--init-file={start}",
             f"--pid-file={self._home / 'pid'}", "--skip-name-resolve"],
            user=self._user, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                self.__exit__()
                raise AssertionError("MariaDB does not start")
            time.sleep(0.1)
        return self

    def _install(self, place: str) -> None:
        """Make the data folder; one server after the other, as two at once failed at times."""
        with (Path(gettempdir()) / f"colloquy-mariadb-{os.geteuid()}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = subprocess.run(
                [_INSTALLER, "--no-defaults", place, "--skip-test-db"],
                check=False, user=self._user, capture_output=True, text=True,
                env={**os.environ, "TMPDIR": str(self._home)},
            )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def running(self) -> list[str]:
        """The statements that the server is working on for the reader."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SHOW FULL PROCESSLIST")
            rows = cursor.fetchall()
        texts = [str(row[7]) for row in rows if row[7]]
        return [text for text in texts if "PROCESSLIST" not in text]

    def connect(self) -> pymysql.Connection:
        """A connection of the reader by the driver itself."""
        return pymysql.connect(
            host="127.0.0.1", port=self.port, user="reader", password="hunter2", database="shop"
        )

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except pymysql.MySQLError:
            return False
        return True


def _statements(text: str) -> list[str]:
    """One statement to a line, as the server reads them at its start."""
    return [" ".join(part.split()) + ";" for part in text.split(";") if part.strip()]
