"""Makes the PDF of a document, in a child of the sandbox that may open nothing any more."""

import os
import resource
from pathlib import Path

from backend.artifacts.documents.charts import Figures
from backend.artifacts.documents.typst_page import Subject, write_typst


def write_pdf(subject: Subject, text: str, figures: Figures, target: Path) -> None:
    """Write a document of Markdown as a PDF; it reads no file and reaches no other place."""
    source = write_typst(subject, text, figures)
    root = target.with_name("nothing")
    root.mkdir()
    with target.open("wb") as file:
        file.write(compile_typst(source.encode(), root, int(subject.created_at.timestamp())))


def compile_typst(source: bytes, root: Path, timestamp: int) -> bytes:
    """Return the PDF that Typst makes of this source; this process opens nothing afterwards."""
    os.environ["RAYON_NUM_THREADS"] = "1"  # each thread reserves memory, which counts as taken
    import typst  # it starts threads: never before a fork

    compiler = typst.Compiler(
        source,
        root=root,
        ignore_system_fonts=True,  # a document looks the same wherever it is made
        package_path=root,
        package_cache_path=root,
    )
    _open_nothing_more()
    made = compiler.compile(format="pdf", timestamp=timestamp)
    if not isinstance(made, bytes):
        raise TypeError("a PDF is one file")
    return made


def _open_nothing_more() -> None:
    """Let this process open no file and no connection: the next descriptor would be too many."""
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptor, hard))
