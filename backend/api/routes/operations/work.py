"""Work, for admins: queued, running, waiting and failed turns, and the workers."""

from fastapi import APIRouter

from backend import audit
from backend.api.dependencies import ManageScope, ReadScope, ServicesDep
from backend.api.http.sanitize import Text
from backend.api.http.threads import long_read
from backend.errors.turns import WorkerNotFound
from backend.operations.work import get_work
from backend.operations.workers import ask_to_drain, list_workers
from backend.schemas.operations.work import Work, WorkerInfo
from backend.schemas.people.rights import Permission

router = APIRouter(tags=["work"])


@router.get("/work")
@long_read
def work(services: ServicesDep, scope: ReadScope) -> Work:
    """The current work of all owners."""
    return get_work(services.database, services.redis, scope)


@router.post("/workers/{name}/drain", status_code=202)
def drain(name: Text, services: ServicesDep, scope: ManageScope) -> WorkerInfo:
    """Let a worker finish its turns, take no more, and stop."""
    scope.require(Permission.OPERATE)
    for worker in list_workers(services.redis):
        if worker.name == name:
            with services.database.transaction() as session:
                audit.record(session, scope.user_id, "drained", "worker", name)
                ask_to_drain(services.redis, name)
            return worker.model_copy(update={"is_draining": True})
    raise WorkerNotFound
