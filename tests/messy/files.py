"""Makes one file of each kind of mess, with the values that a person would expect of it.

`python -m tests.messy.files FOLDER` writes them all; the tests compare every one.
"""

import sys
from pathlib import Path

from tests.messy.cells import dates, missing, numbers
from tests.messy.damaged import damaged_records
from tests.messy.drawn import drawn
from tests.messy.layouts import dialects, encodings, layouts, workbooks
from tests.messy.mess import Mess


def all_messes() -> list[Mess]:
    """Every kind."""
    of_cells = [*dates(), *numbers(), *missing()]
    of_files = [*dialects(), *encodings(), *layouts(), *damaged_records(), *drawn(), *workbooks()]
    return of_cells + of_files


def main() -> None:
    """Write all files into the folder that is named."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for mess in all_messes():
        (folder / mess.file_name).write_bytes(mess.content)


if __name__ == "__main__":
    main()
