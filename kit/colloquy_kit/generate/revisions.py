"""Alembic revisions on the host's own history: a change gets one more, none is rewritten."""

import hashlib
import json
import re
from pathlib import Path

from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from colloquy_kit.generate.errors import Refused
from colloquy_kit.generate.record import Schema
from colloquy_kit.generate.schema import Steps

DEFAULT = "alembic.ini"
LONGEST_ID = 12
MARK = "Colloquy: "
TEXT = '''"""{title}

Revision ID: {revision}
Revises: {revises}
{mark}

"""

{imports}

revision: str = "{revision}"
down_revision: str | None = {down}
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """{title}."""
{upgrade}


def downgrade() -> None:
    """Undo it."""
{downgrade}
'''


class History:
    """The host's migrations."""

    def __init__(self, root: Path, named: str) -> None:
        self.file = root / (named or DEFAULT)
        if not self.file.is_file():
            said = f"{named} does not exist" if named else f"there is no {DEFAULT} in {root}"
            raise Refused(f"Alembic's configuration: {said}; name it with --alembic.")
        self._scripts = _open(self.file)
        self.folder = Path(self._scripts.versions)

    def head(self) -> str | None:
        """Return the head. Raise Refused if there are several, or the history is broken."""
        try:
            heads = self._scripts.get_heads()
        except (CommandError, KeyError, ImportError, SyntaxError) as error:
            raise Refused(f"Alembic cannot read the history: {error}.") from error
        if len(heads) > 1:
            names = ", ".join(sorted(heads))
            raise Refused(f"The history has several heads ({names}): first `alembic merge heads`.")
        return heads[0] if heads else None

    def written(self, target: str) -> dict[str, tuple[str, Path]]:
        """Return the revisions that were written for this package: schema → (id, file)."""
        found = {}
        for script in self._scripts.walk_revisions():
            path = Path(script.path)
            marked = re.search(rf"^{MARK}{re.escape(target)} (\w+)$", script.longdoc, re.M)
            if marked:
                found[marked[1]] = (script.revision, path)
        return found


def name_schema(schema: Schema) -> str:
    """Return a short name for a schema."""
    text = json.dumps(schema, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:LONGEST_ID]


def write_revision(
    target: str, schema: str, head: str | None, steps: Steps
) -> tuple[str, str, str]:
    """Return a new revision's id, file name and text; the same ones for the same arguments."""
    told = f"{target} {schema} {head} {steps.upgrade}"
    revision = hashlib.sha256(told.encode()).hexdigest()[:LONGEST_ID]
    body = {
        name: "\n".join(f"    {line}" for line in lines)
        for name, lines in (("upgrade", steps.upgrade), ("downgrade", steps.downgrade))
    }
    imports = ["import sqlalchemy as sa", "from alembic import op"]
    used = body["upgrade"] + body["downgrade"]
    if "sa." not in used:
        del imports[0]
    if "postgresql." in used:
        imports.append("from sqlalchemy.dialects import postgresql")
    text = TEXT.format(
        title=steps.slug.replace("_", " ").capitalize(),
        revision=revision,
        revises=head or "",
        mark=f"{MARK}{target} {schema}",
        imports="\n".join(imports),
        down=f'"{head}"' if head else "None",
        **body,
    )
    return revision, f"{revision}_{steps.slug}.py", text.replace("Revises: \n", "Revises:\n")


def _open(file: Path) -> ScriptDirectory:
    is_toml = file.suffix == ".toml"
    config = Config(toml_file=file) if is_toml else Config(file)
    try:
        if config.get_alembic_option("script_location") is None:
            # Flask-Migrate has it in the folder of migrations, without saying so.
            config.set_main_option("script_location", str(file.parent))
        scripts = ScriptDirectory.from_config(config)
        location = Path(scripts.versions)
    except (CommandError, KeyError, ValueError) as error:
        said = " ".join(str(error).split()).rstrip(".")
        raise Refused(f"Alembic cannot use {file.name}: {said}.") from error
    if not location.is_dir():
        raise Refused(f"{file.name} has no folder of versions: {location} does not exist.")
    return scripts
