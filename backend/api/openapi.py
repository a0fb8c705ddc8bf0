"""The OpenAPI document, corrected where FastAPI's is inaccurate: errors are problem details."""

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import JsonSchemaMode, models_json_schema

from backend.api.http.bodies import bound_of
from backend.api.problems import MEDIA_TYPE
from backend.schemas.events import EVENTS
from backend.schemas.wire import Wire
from backend.types import JSON

PROBLEM = {"$ref": "#/components/schemas/Problem"}
# Pydantic writes the bounds of a type that has a validator of its own under their Python names.
_BOUNDS = {"ge": "minimum", "le": "maximum", "lt": "exclusiveMaximum"}


def describe(app: FastAPI) -> JSON:
    """Return the document, made once; FastAPI calls this at each request."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
        )
        for operation in _operations(document):
            _name_media_types(operation)
            _name_parameter_bounds(operation)
        for path, operations in document["paths"].items():
            _say_bounds(path, operations)
        document["components"]["schemas"] = _events() | document["components"]["schemas"]
        app.openapi_schema = document
    return app.openapi_schema


def _operations(document: JSON) -> list[JSON]:
    return [operation for path in document["paths"].values() for operation in path.values()]


def _events() -> JSON:
    """Return the schemas of events: they are streamed as text, so FastAPI does not know them."""
    models: list[tuple[type[Wire], JsonSchemaMode]]
    models = [(model, "serialization") for model in dict.fromkeys(EVENTS.values())]
    _, schemas = models_json_schema(models, ref_template="#/components/schemas/{model}")
    return dict(schemas["$defs"])


def _say_bounds(path: str, operations: JSON) -> None:
    for operation in operations.values():
        if "requestBody" in operation:
            operation["requestBody"]["description"] = str(bound_of(path))


def _name_parameter_bounds(operation: JSON) -> None:
    for parameter in operation.get("parameters", []):
        schema = parameter["schema"]
        for each in (schema, *schema.get("anyOf", [])):
            for name in _BOUNDS.keys() & each.keys():
                each[_BOUNDS[name]] = each.pop(name)


def _name_media_types(operation: JSON) -> None:
    for response in operation.get("responses", {}).values():
        content = response.get("content", {})
        if content.get("application/json", {}).get("schema") == PROBLEM:
            response["content"] = {MEDIA_TYPE: content["application/json"]}
