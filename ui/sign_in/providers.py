"""The pages' own routes for signing in with a provider: a browser goes there, and comes back."""

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from backend.schemas.people.account import SignedIn
from backend.schemas.people.providers import ProviderVisit
from backend.web.guard import OWN_SITES
from ui.async_api import AsyncApi
from ui.client import ClientError
from ui.cookies import Visit, find_visit, set_visit
from ui.sign_in import entry, forms
from ui.sign_in.calls import call, over_safe_ground
from ui.sign_in.checks import Checks
from ui.sign_in.places import HOME, VISIT, own_path

PARAMETERS = ("state", "code", "iss", "error")
OTHER_BROWSER = ClientError(
    "Sign in again",
    "This sign-in was begun in another browser, or more than ten minutes ago. Begin again. If this"
    " happens each time, your browser keeps no cookies of this site, or Colloquy was opened under"
    " another address than the one to which the provider sends you back.",
    401,
)
# Another site could join whoever follows its link to somebody else's invitation.
ELSEWHERE = ClientError("Open the link", "Open the one-time link itself, and continue there.", 403)
UNCLEAR = ClientError("Sign in again", "The answer of the provider cannot be read.", 400)


class ProviderRoutes:
    """Sends browsers to providers, and signs in whom the API finds in the answers."""

    def __init__(self, api: AsyncApi, checks: Checks) -> None:
        self._api = api
        self._checks = checks
        self.routes = [Route(VISIT, self._visit), Route(f"{VISIT}/answer", self._answer)]

    @over_safe_ground
    async def _visit(self, request: Request) -> Response:
        """Send the browser to a provider; it keeps the key without which no answer counts."""
        query, kept = request.query_params, find_visit(request)
        if query.get("link") and request.headers.get("sec-fetch-site", "none") not in OWN_SITES:
            return await self._refused(HOME, ELSEWHERE)
        wanted = {
            "provider": request.path_params["provider"],
            "link_token": query.get("link"),
            "browser_key": kept.key if kept else None,
        }
        place = HOME if query.get("link") else own_path(query.get("next"))
        try:
            visit = await call(
                self._api, ProviderVisit, "POST", "sign-ins/oidc", request, body=wanted
            )
        except ClientError as error:
            return await self._refused(place, error)
        response = RedirectResponse(visit.url, entry.SEE_OTHER, entry.NOT_STORED)
        set_visit(request, response, Visit(visit.browser_key, place), visit.lasts_seconds)
        return response

    @over_safe_ground
    async def _answer(self, request: Request) -> Response:
        """Sign in whom the provider's answer names, in the browser that began."""
        visit = find_visit(request)
        place = own_path(visit.place) if visit else HOME
        names = [name for name, _ in request.query_params.multi_items() if name in PARAMETERS]
        if "state" not in names or len(set(names)) < len(names):
            return await self._refused(place, UNCLEAR)
        if visit is None:
            return await self._refused(place, OTHER_BROWSER)
        body: dict[str, Any] = {name: request.query_params[name] for name in names}
        body |= {"provider": request.path_params["provider"], "browser_key": visit.key}
        try:
            signed_in = await call(
                self._api, SignedIn, "POST", "sign-ins/oidc/answer", request, body=body
            )
        except ClientError as error:
            return await self._refused(place, error)
        return await entry.begin(request, self._api, signed_in.token, place)

    async def _refused(self, place: str, error: ClientError) -> Response:
        return forms.sign_in_page(await self._checks.list_ways(), place, error)
