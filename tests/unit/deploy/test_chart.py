"""The chart for Kubernetes: its values, and what Helm makes of them.

Helm's part is done by its own code in the package `helm-python-sdk`, where that is installed.
"""

import json
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from backend.version import VERSION
from tests.shipped import CHART, image_environment, is_answered, settings_of

VALUES = {
    "publicUrl": "https://desk.example.com",
    "existingSecret": "desk",
    "allowedHosts": ["desk.internal"],
    "settings": {"MODEL": "gpt-4o", "TRUSTED_PROXIES": "10.0.0.0/8", "LOG_FORMAT": "json"},
    "ingress": {
        "enabled": True,
        "className": "nginx",
        "tlsSecret": "t",
        "apiHost": "api.example.com",
    },
}
WITH_BUCKET: dict[str, Any] = {
    "artifactStore": "s3://colloquy/desk",
    "dataDir": {"sourcesClaim": "ledgers"},
}


def schema() -> Draft7Validator:
    return Draft7Validator(json.loads((CHART / "values.schema.json").read_text()))


def test_the_charts_values_are_what_its_schema_says():
    values = yaml.safe_load((CHART / "values.yaml").read_text())

    Draft7Validator.check_schema(schema().schema)
    assert list(schema().iter_errors(values)) == []
    assert values.keys() == schema().schema["properties"].keys() - {"global"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("publicUrl", "https://desk.example.com/path"),
        ("publicUrl", "desk.example.com"),
        ("auth", "none"),
        ("settings", {"DATABASE_URL": "postgresql://u:p@h/d"}),
        ("settings", {"WORKER_TURNS": 100}),
        ("podSecurityContext", {"runAsNonRoot": False}),
        ("replicas", 3),
        ("artifactStore", "https://bucket"),
    ],
)
def test_a_value_that_would_not_work_is_refused(name, value):
    values = yaml.safe_load((CHART / "values.yaml").read_text())

    assert list(schema().iter_errors(values | {name: value}))


def test_the_chart_is_of_this_version():
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == VERSION


def rendered(**values: Any) -> tuple[dict[str, Any], ...]:
    helm = pytest.importorskip("helm_python", reason="helm-python-sdk is not installed")
    with helm.Chart.load(str(CHART)) as chart:
        files = chart.render(VALUES | values, name="desk", namespace="desk")
    texts = [text for name, text in files.items() if name.endswith(".yaml")]
    return tuple(one for text in texts for one in yaml.safe_load_all(text) if one)


def pods() -> list[dict[str, Any]]:
    return [one["spec"]["template"]["spec"] for one in rendered() if "template" in one["spec"]]


def test_the_chart_makes_valid_resources():
    validate = pytest.importorskip("kubernetes_validate").validate
    kinds = [resource["kind"] for resource in rendered()]

    for resource in (*rendered(), *rendered(**WITH_BUCKET)):
        validate(resource, "1.37", strict=True)
    assert sorted(set(kinds)) == [
        "Deployment", "Ingress", "Job", "PersistentVolumeClaim", "PodDisruptionBudget", "Service",
    ]  # fmt: skip
    assert kinds.count("Deployment") == kinds.count("PodDisruptionBudget") == 3


def test_no_pod_of_the_chart_is_root_or_writes_to_its_image():
    assert len(pods()) == 4
    for pod in pods():
        (container,) = pod["containers"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert "/tmp" in [mount["mountPath"] for mount in container["volumeMounts"]]
        assert container["args"] == ["ui"] or container["envFrom"]
        assert container["args"] != ["ui"] or "envFrom" not in container
        assert {"name": "LOG_FORMAT", "value": "json"} in container["env"]


def test_the_api_of_the_chart_answers_pages_and_probes_on_their_port():
    deployments = [
        one["spec"]["template"]["spec"] for one in rendered() if "template" in one["spec"]
    ]
    (api,) = [
        pod["containers"][0] for pod in deployments if pod["containers"][0]["args"] == ["api"]
    ]
    given = {one["name"]: one.get("value", "") for one in api["env"]}
    settings = settings_of(image_environment() | given)

    for host in ("desk-colloquy-api:8000", "localhost", "api.example.com"):
        assert is_answered(settings, 8000, host), host
    ports = {port["name"]: port["containerPort"] for port in api["ports"]}
    assert ports == {"http": 8000, "probe": settings.probe_port}
    asked = {name: api[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
    assert {name: (one["path"], one["port"]) for name, one in asked.items()} == {
        "startup": ("/healthz", "probe"),
        "liveness": ("/healthz", "probe"),
        "readiness": ("/readyz", "probe"),
    }


def test_with_a_bucket_each_pod_has_files_of_its_own_and_there_is_no_shared_volume():
    made = rendered(**WITH_BUCKET)
    kinds = {one["kind"] for one in made}
    (api,) = [
        one["spec"]["template"]["spec"]
        for one in made
        if one["metadata"]["name"] == "desk-colloquy-api" and one["kind"] == "Deployment"
    ]

    assert "PersistentVolumeClaim" not in kinds
    volumes = {volume["name"]: volume for volume in api["volumes"]}
    assert volumes["data"]["emptyDir"] == {"sizeLimit": "20Gi"}
    assert volumes["sources"]["persistentVolumeClaim"]["claimName"] == "ledgers"
    assert {"name": "ARTIFACT_STORE", "value": "s3://colloquy/desk"} in api["containers"][0]["env"]
