"""The OpenAPI document, and a page that shows it: Swagger UI from an installed package."""

from importlib.resources import files

from fastapi import APIRouter, HTTPException, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from backend.api.dependencies import ReadScope
from backend.web.headers import POLICY

router = APIRouter(include_in_schema=False)
PACKAGE = "fastapi_offline"  # used for its files only
ASSETS = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}
# Swagger UI loads its icons from data: URLs, and React sets inline styles.
DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Colloquy API</title>
<link rel="icon" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
# A separate file, because the page's policy allows no inline scripts.
START = """SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  validatorUrl: null,
});
"""


@router.get("/api/openapi.json")
def openapi(request: Request, scope: ReadScope) -> Response:
    """The OpenAPI document."""
    return JSONResponse(request.app.openapi())


@router.get("/api/docs")
def docs(scope: ReadScope) -> Response:
    """The page that shows the OpenAPI document."""
    return HTMLResponse(PAGE, headers={POLICY: DOCS_POLICY})


@router.get("/api/docs/start.js")
def start() -> Response:
    """The script that starts Swagger UI."""
    return Response(START, media_type="text/javascript")


@router.get("/api/docs/{name}")
def asset(name: str) -> Response:
    """A file of Swagger UI."""
    if name not in ASSETS:
        raise HTTPException(404)
    content = files(PACKAGE).joinpath("static", name).read_bytes()
    return Response(content, media_type=ASSETS[name])
