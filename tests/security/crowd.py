"""A crowd of one person: `python -m tests.security.crowd PORT SESSION STREAMS READS` opens so many
event streams and long reads at once, says how each was answered, and holds them until its input
closes. Its own processor time is not the server's: it steps back for that.
"""

import asyncio
import json
import os
import sys

PATIENCE_SECONDS = 240
CONNECTING = asyncio.Semaphore(50)
LONG_READS = ("/usage", "/work", "/sessions/{}/inspection")


async def main() -> None:
    """Open all, and tell `[path, status, detail]` of each in one line."""
    os.nice(19)
    port, session_id, streams, reads = int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
    paths = [f"/sessions/{session_id}/events"] * streams
    paths += [LONG_READS[number % len(LONG_READS)].format(session_id) for number in range(reads)]
    held: list[asyncio.StreamWriter] = []
    async with asyncio.timeout(PATIENCE_SECONDS):
        answers = await asyncio.gather(*(ask(port, path, held) for path in paths))
    sys.stdout.write(json.dumps(answers) + "\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    for one in held:
        one.close()


async def ask(port: int, path: str, held: list[asyncio.StreamWriter]) -> tuple[str, int, str]:
    """Send one request; give how it was answered, and why where it was refused."""
    async with CONNECTING:  # who connects and asks much later is taken for one who asks nothing
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        held.append(writer)
        writer.write(f"GET /api/v1{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    status = int(head.split()[1])
    if status == 200:
        return path, status, ""
    length = int(head.lower().partition("content-length: ")[2].split()[0])
    return path, status, json.loads(await reader.readexactly(length))["detail"]


if __name__ == "__main__":
    asyncio.run(main())
