"""The OpenAPI document, true also where FastAPI's own would not be: errors are problem details."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from backend.api.problems import MEDIA_TYPE

JSON = dict[str, Any]
PROBLEM = {"$ref": "#/components/schemas/Problem"}


def describe(app: FastAPI) -> JSON:
    """Make the document once; FastAPI asks for it at each request."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        for operation in _operations(document):
            _name_media_types(operation)
        app.openapi_schema = document
    return app.openapi_schema


def _operations(document: JSON) -> list[JSON]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def _name_media_types(operation: JSON) -> None:
    for response in operation.get("responses", {}).values():
        content = response.get("content", {})
        if content.get("application/json", {}).get("schema") == PROBLEM:
            response["content"] = {MEDIA_TYPE: content["application/json"]}
