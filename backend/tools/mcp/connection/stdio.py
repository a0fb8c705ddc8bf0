"""An MCP server as a child process: allowed by the operator, confined, with bounded answers.

The SDK's own transport buffers lines of any length, and copies the buffer for each new piece.
"""

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import ClientSession
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage
from pydantic import ValidationError

from backend.domains.commands import Commands
from backend.errors.tools import ToolServerUnavailable
from backend.schemas.domains.templates import StdioServer
from backend.tools.mcp.connection.rescue import TooManyParts
from backend.tools.mcp.connection.wire import MAX_ANSWER_BYTES, Pace
from backend.tools.mcp.own_secrets import OwnSecrets
from colloquy_kit.messages.parts import has_too_many_parts

END_SECONDS = 2.0
CONFINE = Path(__file__).with_name("confine.py")

Received = MemoryObjectSendStream[SessionMessage | Exception]
ToSend = MemoryObjectReceiveStream[SessionMessage]


@contextlib.asynccontextmanager
async def stdio_session(
    server: StdioServer, commands: Commands, own: OwnSecrets, on_other: Any
) -> AsyncGenerator[ClientSession, None]:
    """Start the server and yield a session with it; on exit the process has ended too.

    A line that is too long ends the session. `on_other` gets whatever is not a message. Raise
    ToolServerUnavailable for a command that the operator does not allow, OSError for one that
    cannot be run.
    """
    for _, problem in commands.faults(server):
        raise ToolServerUnavailable(problem.rstrip("."))
    program = _find_program(server.command)
    received, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    with own.log() as log:
        process = await anyio.open_process(
            [sys.executable, "-I", "-S", CONFINE, *commands.hidden, "--", program, *server.args],
            env={**get_default_environment(), **server.env},
            stderr=log,
            start_new_session=True,
        )
    assert process.stdin is not None and process.stdout is not None  # noqa: S101  # pipes
    async with anyio.create_task_group() as tasks, process, read, write:
        tasks.start_soon(_receive, process.stdout, received)
        tasks.start_soon(_send, process.stdin, to_send)
        try:
            async with ClientSession(read, write, message_handler=on_other) as session:
                yield session
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
            tasks.cancel_scope.cancel()


def _find_program(command: str) -> str:
    """Return where the command is, by this process's own PATH. Raise OSError."""
    if found := shutil.which(command):
        return os.path.abspath(found)  # not resolved: programs may depend on a link's name
    is_there = os.sep in command and Path(command).exists()
    raise OSError(errno.EACCES if is_there else errno.ENOENT, "cannot be run", command)


async def _receive(stdout: ByteReceiveStream, received: Received) -> None:
    """Pass messages on until the server closes its output or a line is too long."""
    async with received:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for line in _lines(stdout):
                await received.send(_message(line))


async def _send(stdin: ByteSendStream, to_send: ToSend) -> None:
    async with to_send:
        with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for message in to_send:
                text = message.message.model_dump_json(by_alias=True, exclude_none=True)
                await stdin.send(text.encode() + b"\n")


async def _lines(stdout: ByteReceiveStream) -> AsyncIterator[str]:
    pieces: list[bytes] = []
    length = 0
    pace = Pace()
    async for chunk in stdout:
        *ended, rest = chunk.split(b"\n")
        await pace.keep(len(ended))
        for line in ended:
            yield b"".join([*pieces, line]).decode("utf-8", "replace")
            pieces, length = [], 0
        pieces.append(rest)
        length += len(rest)
        if length > MAX_ANSWER_BYTES:
            return


def _message(line: str) -> SessionMessage | Exception:
    if has_too_many_parts(line):
        return TooManyParts(line)
    try:
        return SessionMessage(JSONRPCMessage.model_validate_json(line))
    except ValidationError as error:
        return error


async def _end(process: Process) -> None:
    """Close the server's input, which asks it to end; then kill it and its children."""
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        if process.stdin is not None:
            await process.stdin.aclose()
    with anyio.move_on_after(END_SECONDS) as limit:
        await process.wait()
    if limit.cancelled_caught:
        await terminate_posix_process_tree(process)
