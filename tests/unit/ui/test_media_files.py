"""Files that pages show or offer: whose each is, and that two are never taken for one."""

from streamlit.runtime.media_file_storage import MediaFileKind

from ui.media_files import OwnedFiles, downloading, owner_of

MEGABYTE = 1024 * 1024


def keep(files: OwnedFiles, data: bytes, owner: str | None) -> str:
    with downloading(owner):
        file_id = files.load_and_get_id(data, "text/csv", MediaFileKind.DOWNLOADABLE, "rows.csv")
    return files.get_url(file_id).removeprefix("/media/")


def test_the_same_file_of_two_owners_has_two_addresses_each_of_its_owner() -> None:
    files = OwnedFiles("/media")

    names = [keep(files, b"a,b\n", owner) for owner in ("first", "second", "first")]

    assert names[0] == names[2] != names[1]
    assert [owner_of(name) for name in names] == ["first", "second", "first"]


def test_large_files_that_differ_anywhere_are_two() -> None:
    files, blank = OwnedFiles("/media"), bytearray(4 * MEGABYTE)
    other = blank.copy()
    other[MEGABYTE] = 1

    names = [keep(files, bytes(data), "one") for data in (blank, other)]

    assert names[0] != names[1]
    assert files.get_file(names[1]).content == other


def test_nobody_owns_a_file_that_is_gone() -> None:
    files = OwnedFiles("/media")
    name = keep(files, b"a", "first")

    files.delete_file(name.partition(".")[0])

    assert owner_of(name) is None
