"""Queries that a person runs beside a session, limited like the agents' tool; kept on request."""

from typing import Any, Literal

from fastapi import APIRouter, Depends, Response

from backend.api.dependencies import ArtifactsDep, AskScope, ServicesDep, SourcesDep, own_sources
from backend.api.files import BYTES, csv_response, workbook_response
from backend.api.http.sanitize import Sent
from backend.api.http.threads import answer_large
from backend.artifacts.making import CONTENT, Maker, clean_title, table
from backend.conversations import service as conversations
from backend.domains import service as domains
from backend.domains.template import agents_of, template_of
from backend.errors.tools import ToolNotGiven
from backend.files.origins import finder
from backend.schemas.artifacts import Artifact
from backend.schemas.data.queries import KeptQuery, OwnQuery, QueryTable
from backend.schemas.domains.templates import DomainTemplate
from backend.schemas.ids import SessionId
from backend.schemas.people.rights import Right
from backend.tabular import workbook
from backend.tools.sources.querying import run_query

router = APIRouter(prefix="/sessions", tags=["sources"])
TOOL = "query_source"
TABLES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": QueryTable,
        "content": {"text/csv": {"schema": {"type": "string"}}, workbook.MEDIA_TYPE: BYTES},
    }
}


def check_may_query(session_id: SessionId, services: ServicesDep, scope: AskScope) -> None:
    """Raise SessionNotFound or DomainNotFound, ToolNotGiven if no agent here may query sources."""
    with services.database.read() as session:
        conversations.check_visible(session, scope, session_id, Right.CONTINUE)
        domain_id = conversations.get(session, scope, session_id).domain_id
        domains.check_uses(session, scope, domain_id)
        image = conversations.get_image(session, scope, session_id)
    if not _has_tool(template_of(image)):
        raise ToolNotGiven


@router.post(
    "/{session_id}/query",
    response_model=None,
    responses=TABLES,
    dependencies=[Depends(check_may_query)],
)
async def query_source(
    session_id: SessionId,
    body: Sent[OwnQuery],
    services: ServicesDep,
    sources: SourcesDep,
    scope: AskScope,
    format: Literal["json", "csv", "xlsx"] = "json",
) -> Response:
    """Run one read-only SELECT on the session's sources, with the limits of the agents' tool.

    Uploaded files are among them. It starts no turn and does not change the session.
    """
    own = own_sources(services, sources, scope).beside(
        finder(services.database, services.files, lambda: scope, session_id)
    )
    found = await run_query(own, scope.user_id, body.source, body.sql)
    result = dict(found.artifact)
    result.pop("kind")
    writers: dict[str, Any] = {"csv": csv_response, "xlsx": workbook_response}
    write = writers.get(format)
    return await answer_large(lambda: write(result, "query") if write else result)


@router.post(
    "/{session_id}/query/artifact", status_code=201, dependencies=[Depends(check_may_query)]
)
async def keep_query(
    session_id: SessionId,
    body: Sent[KeptQuery],
    services: ServicesDep,
    sources: SourcesDep,
    artifacts: ArtifactsDep,
    scope: AskScope,
) -> Artifact:
    """Keep the whole result of a person's own query as an artifact; its origin has the SQL.

    Who may continue the session can do this.
    """
    own = own_sources(services, sources, scope).beside(
        finder(services.database, services.files, lambda: scope, session_id)
    )
    title = clean_title(body.title)
    with artifacts.contents.folder() as folder:
        place = folder / CONTENT
        written = await own.write(scope.user_id, body.source, body.sql, place)
        origin = {
            "source": body.source,
            "query": body.sql,
            "fingerprint": await own.fingerprint(body.source),
        }
        added = await artifacts.make(Maker(session_id), title, table(written, place, origin))
    return await artifacts.get(scope, added.artifact_id)


def _has_tool(image: DomainTemplate) -> bool:
    given = [image.tools, *(agent.tools for agent in agents_of(image))]
    is_built = given[0] is None or TOOL in given[0]
    return is_built and any(tools is None or TOOL in tools for tools in given[1:])
