"""Three applications that know nothing of Colloquy, written into a folder for tests.

`shop`: FastAPI, people with integer keys, a history of one revision. `crew`: Flask, teams with uuid
keys, names for constraints, the package in `src`, a history of two revisions.
`bare`: no owners, a scope that is made in its own way, a base inside a class, tables in a schema of
their own, no revision yet.
"""

import textwrap
from pathlib import Path

ENV = """
import os

from alembic import context
from sqlalchemy import create_engine

from PACKAGE.db import Base
from PACKAGE import models
try:
    import PACKAGE.conversations.models
except ModuleNotFoundError:
    pass

engine = create_engine(os.environ["DATABASE_URL"])
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=Base.metadata)
    with context.begin_transaction():
        context.run_migrations()
"""

INI = """
[alembic]
script_location = %(here)s/migrations
prepend_sys_path = %(here)s:%(here)s/src
path_separator = os
"""

REVISION = '''
"""{title}"""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = {down!r}


def upgrade() -> None:
    {upgrade}


def downgrade() -> None:
    {downgrade}
'''

SCOPE = '''
from dataclasses import dataclass


@dataclass(frozen=True)
class Scope:
    """Who asks."""

    type: str
    id: KEY
'''

SHOP = {
    "pyproject.toml": """
        # The shop's own words stay as they are.
        [project]
        name   =   "shop"   # odd spaces
        version = "1"

        [tool.other]
        x = [1,2,   3]
        """,
    "alembic.ini": INI,
    "migrations/env.py": ENV.replace("PACKAGE", "shop"),
    "migrations/versions/a1_people.py": REVISION.format(
        title="people",
        revision="a1",
        down=None,
        upgrade='op.create_table("people", sa.Column("id", sa.Integer, primary_key=True),'
        ' sa.Column("name", sa.String, nullable=False))',
        downgrade='op.drop_table("people")',
    ),
    "shop/__init__.py": "",
    "shop/db.py": """
        import os

        from sqlalchemy import create_engine
        from sqlalchemy.orm import DeclarativeBase, sessionmaker


        class Base(DeclarativeBase):
            pass


        def open_sessions() -> sessionmaker:  # type: ignore[type-arg]
            return sessionmaker(create_engine(os.environ["DATABASE_URL"]))
        """,
    "shop/models.py": """
        from sqlalchemy.orm import Mapped, mapped_column

        from shop.db import Base


        class Person(Base):
            __tablename__ = "people"

            id: Mapped[int] = mapped_column(primary_key=True)
            name: Mapped[str]
        """,
    "shop/auth.py": SCOPE.replace("KEY", "int"),
    "shop/main.py": """
        from typing import Annotated

        from fastapi import FastAPI, Header

        from shop.auth import Scope
        from shop.conversations import service
        from shop.conversations.routes import make_routes
        from shop.db import open_sessions


        def get_scope(x_person: Annotated[int, Header()]) -> Scope:
            return Scope("user", x_person)


        service.bind(open_sessions())
        app = FastAPI()
        app.include_router(make_routes(get_scope))
        """,
}

CREW = {
    "pyproject.toml": '[project]\nname = "crew"\nversion = "1"\n',
    "alembic.ini": INI,
    "migrations/env.py": ENV.replace("PACKAGE", "crew"),
    "migrations/versions/b1_teams.py": REVISION.format(
        title="teams",
        revision="b1",
        down=None,
        upgrade='op.create_table("teams", sa.Column("id", sa.Uuid, nullable=False),'
        ' sa.PrimaryKeyConstraint("id", name="pk_teams"))',
        downgrade='op.drop_table("teams")',
    ),
    "migrations/versions/b2_names.py": REVISION.format(
        title="names",
        revision="b2",
        down="b1",
        upgrade='op.add_column("teams", sa.Column("name", sa.String, nullable=True))',
        downgrade='op.drop_column("teams", "name")',
    ),
    "src/crew/__init__.py": "",
    "src/crew/db.py": """
        from sqlalchemy import MetaData
        from sqlalchemy.orm import DeclarativeBase


        class Base(DeclarativeBase):
            metadata = MetaData(
                naming_convention={
                    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
                    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
                    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
                    "pk": "pk_%(table_name)s",
                }
            )
        """,
    "src/crew/models.py": """
        from uuid import UUID, uuid4

        from sqlalchemy.orm import Mapped, mapped_column

        from crew.db import Base


        class Team(Base):
            __tablename__ = "teams"

            id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
            name: Mapped[str | None]
        """,
    "src/crew/auth.py": "from uuid import UUID\n" + SCOPE.replace("KEY", "UUID"),
    "src/crew/main.py": """
        import os
        from uuid import UUID

        from flask import Flask, request
        from sqlalchemy import create_engine
        from sqlalchemy.orm import sessionmaker

        from colloquy_kit.store.errors import NotFound
        from crew.auth import Scope
        from crew.conversations import persistence, service

        service.bind(sessionmaker(create_engine(os.environ["DATABASE_URL"])))
        app = Flask("crew")


        def get_scope() -> Scope:
            return Scope("team", UUID(request.headers["x-team"]))


        @app.errorhandler(NotFound)
        def not_found(error: NotFound) -> tuple[dict[str, str], int]:
            return {"detail": str(error)}, 404


        @app.post("/conversations")
        def create() -> dict[str, str]:
            return {"id": str(service.create_conversation(get_scope(), request.json).id)}


        @app.post("/conversations/<uuid:number>/messages")
        def send(number: UUID) -> dict[str, bool]:
            agent = persistence.start_agent(get_scope(), number)
            agent.send((request.json or {})["text"])
            agent.wait()
            return {"sent": True}


        @app.get("/conversations/<uuid:number>/messages")
        def read(number: UUID) -> list[dict[str, object]]:
            rows = service.load_display_messages(get_scope(), number)
            return [{"content_type": row.content_type, "content": row.content} for row in rows]
        """,
}

BARE = {
    "alembic.ini": INI,
    "migrations/env.py": ENV.replace("PACKAGE", "bare").replace(
        "connection=connection,", "connection=connection, include_schemas=True,"
    ),
    "migrations/versions/.keep": "",
    "bare/models.py": "",
    "bare/__init__.py": "",
    "bare/db.py": """
        from sqlalchemy import MetaData
        from sqlalchemy.orm import DeclarativeBase


        class Database:
            class Model(DeclarativeBase):
                metadata = MetaData(schema="apart")


        Base = Database.Model
        """,
    "bare/auth.py": """
        class Scope:
            def __init__(self, name: str) -> None:
                self.type, self.id = "place", name
        """,
}


def write_application(folder: Path, files: dict[str, str]) -> Path:
    """Write an application into a folder and return that."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return folder
