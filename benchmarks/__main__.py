"""Print the table of ratios: `python -m benchmarks [--only B1 ...] [--long]`."""

import argparse
import sys
import time

from benchmarks.claims import CLAIMS, measure
from benchmarks.figures import Figure, table
from benchmarks.machine import describe_machine, versions


def main() -> int:
    """Measure the chosen claims and print their figures."""
    parser = argparse.ArgumentParser(description="Measure Colloquy against its peers.")
    parser.add_argument("--only", nargs="+", choices=CLAIMS, default=list(CLAIMS))
    parser.add_argument("--long", action="store_true", help="also measure what takes minutes")
    arguments = parser.parse_args()
    print(f"{describe_machine()}\n{versions()}\n", flush=True)
    figures: list[Figure] = []
    try:
        for claim in arguments.only:
            started = time.monotonic()
            figures += measure(claim, arguments.long)
            print(f"{claim} took {time.monotonic() - started:.0f} s", file=sys.stderr)
    finally:
        print(table(figures))  # keeps the figures measured before a claim failed
    return 0


if __name__ == "__main__":
    sys.exit(main())
