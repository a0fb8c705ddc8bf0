"""What artifacts are called on pages, and the download formats of each kind. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.schemas.artifacts import (
    Artifact,
    ArtifactContent,
    ArtifactDiff,
    ArtifactKind,
    ArtifactVersion,
)
from ui.shared.formats import reader

ICONS: Mapping[ArtifactKind, str] = {
    ArtifactKind.TABLE: ":material/table:",
    ArtifactKind.CHART: ":material/bar_chart:",
    ArtifactKind.DOCUMENT: ":material/article:",
    ArtifactKind.JSON: ":material/data_object:",
    ArtifactKind.IMAGE: ":material/image:",
    ArtifactKind.FILE: ":material/attach_file:",
}
NAMES: Mapping[ArtifactKind, str] = {
    ArtifactKind.TABLE: "Table",
    ArtifactKind.CHART: "Chart",
    ArtifactKind.DOCUMENT: "Document",
    ArtifactKind.JSON: "JSON",
    ArtifactKind.IMAGE: "Image",
    ArtifactKind.FILE: "File",
}
FORMATS: Mapping[ArtifactKind, Sequence[tuple[str, str]]] = {
    ArtifactKind.TABLE: (("csv", "CSV"), ("xlsx", "Excel"), ("parquet", "Parquet")),
    ArtifactKind.CHART: (("svg", "SVG"), ("png", "PNG"), ("json", "Vega-Lite")),
    ArtifactKind.DOCUMENT: (("pdf", "PDF"), ("html", "Web page"), ("md", "Markdown")),
    ArtifactKind.JSON: (("json", "JSON"),),
}
FILE = "file"  # as stored
SIGNS = {"added": "+", "removed": "-", "changed": "~"}
_ORIGINS = {
    "tool": "Tool",
    "source": "Source",
    "query": "Query",
    "of_tool": "Returned by",
    "file": "File",
    "fingerprint": "Source fingerprint",
}


def kind_of(written: Any) -> ArtifactKind:
    """Return the kind that a message names; FILE where these pages do not know it."""
    try:
        return ArtifactKind(str(written))
    except ValueError:
        return ArtifactKind.FILE


def size(count: int) -> str:
    """Return a number of bytes as people read it."""
    if count >= 1_000_000:
        return f"{reader.number(count / 1_000_000, 1)} MB"
    if count >= 1_000:
        return f"{reader.number(round(count / 1_000))} KB"
    return f"{reader.number(count)} bytes"


def about(artifact: Artifact) -> str:
    """Return the line below an artifact's title in a list."""
    versions = "1 version" if artifact.version == 1 else f"{artifact.version} versions"
    by = [artifact.agent] if artifact.agent else []
    when = reader.moment(artifact.updated_at)
    return " · ".join([NAMES[artifact.kind], versions, *by, when, size(artifact.bytes)])


def about_version(version: ArtifactVersion, newest: int) -> str:
    """Return the line above a version: its number, who made it and when."""
    which = f"Version {version.version} of {newest}" if newest > 1 else "Version 1"
    by = version.agent or "a person"
    when = reader.moment(version.created_at)
    return " · ".join([NAMES[version.kind], which, by, when, size(version.bytes)])


def version_label(version: ArtifactVersion) -> str:
    """Return a version's name in a choice."""
    by = version.agent or "a person"
    return f"{version.version} · {by} · {reader.moment(version.created_at)}"


def file_of(content: ArtifactContent) -> str:
    """Return what a kept file was called, else its title."""
    return str(content.preview.get("name") or content.title)


def origin_lines(origin: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return where a version came from, as pairs of label and value."""
    return [(name, str(origin[key])) for key, name in _ORIGINS.items() if origin.get(key)]


def diff_summary(diff: ArtifactDiff) -> str:
    """Return the differences as a sentence."""
    if diff.is_equal:
        return f"Versions {diff.before} and {diff.after} are identical."
    if diff.kind == "bytes":
        return f"Versions {diff.before} and {diff.after} differ. This kind has no details to show."
    unit = "row" if diff.kind == "rows" else "line"
    counts = {"added": diff.added, "removed": diff.removed, "changed": diff.changed}
    parts = [
        f"{SIGNS[what]} {reader.counted(count, unit)} {what}"
        for what, count in counts.items()
        if count
    ]
    columns = {"added": diff.columns_added, "removed": diff.columns_removed}
    for what, names in columns.items():
        if names:
            plural = "column" if len(names) == 1 else "columns"
            parts.append(f"{SIGNS[what]} {plural} {what}: {', '.join(names)}")
    return " · ".join(parts) or f"Versions {diff.before} and {diff.after} differ."
