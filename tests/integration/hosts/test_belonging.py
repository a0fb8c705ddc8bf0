"""What does not belong together is refused at the start, in words that say what to do."""

from pathlib import Path

from sqlalchemy import make_url

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.servers.bucket import serve_bucket
from tests.stack import Servers, Stack


def refused(stack: Stack, tmp_path: Path, **environment: str) -> str:
    """What a worker says that is not started."""
    said = tmp_path / "refused.log"
    process = Stack.launch(("-m", "worker"), {**stack.environment, **environment}, said)
    assert process.wait(timeout=60) == 2, said.read_text()
    words = said.read_text()
    said.unlink()
    return " ".join(words.split())


def test_parts_of_two_installations_are_not_mixed(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    homes = [tmp_path / name for name in ("one", "other", "third")]
    for home in homes:
        home.mkdir()
    with (
        make_stack(servers, model, homes[0]) as one,
        make_stack(servers, model, homes[1]) as other,
    ):
        folder = refused(one, tmp_path, DATA_DIR=str(homes[1]))
        redis = refused(one, tmp_path, REDIS_URL=other.redis_url)
        host = refused(one, tmp_path, DATA_DIR=str(homes[2]))

        assert "belongs to another installation than the database at DATABASE_URL" in folder
        assert "Redis at REDIS_URL is used by another installation" in redis
        assert "is not where this installation keeps its files" in host
        assert "ARTIFACT_STORE" in host
        assert one.client.get(f"{one.base_url}/readyz").status_code == 200


def test_a_bucket_has_the_contents_of_one_installation(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    (tmp_path / "s3").mkdir()
    with serve_bucket(tmp_path / "s3") as (_, bucket):
        elsewhere = {**bucket, "ARTIFACT_STORE": "s3://results/elsewhere"}
        with make_stack(servers, model, tmp_path, **bucket) as one:
            moved = refused(one, tmp_path, **elsewhere, DATA_DIR=str(tmp_path / "b"))
        (home := tmp_path / "c").mkdir()
        other = make_stack(servers, model, home, **bucket)
        taken = refused(other, tmp_path)
        other.ends_with_it.close()

    assert "is not where this installation keeps its files" in moved
    assert "has the contents of another installation" in taken


def test_a_password_stands_in_a_file_that_each_connection_reads(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    stack = make_stack(servers, model, tmp_path)
    url = make_url(stack.database_url)
    place = tmp_path / "pgpass"
    place.write_text(f"*:*:*:*:{url.password}\n")
    place.chmod(0o600)
    bare = make_url(stack.database_url.replace(f":{url.password}@", "@"))
    named = bare.update_query_dict({"passfile": str(place)})
    stack.environment["DATABASE_URL"] = named.render_as_string(hide_password=False)

    ended = stack.run("-m", "backend.operations.integrity")
    place.write_text("*:*:*:*:another\n")
    refused = stack.run("-m", "backend.operations.integrity")
    stack.ends_with_it.close()

    assert url.password
    assert ended[0] == 0, ended[1]
    assert refused[0] == 2 and "does not answer" in refused[1], refused[1]
