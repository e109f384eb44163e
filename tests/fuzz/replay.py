"""Checks inputs again that were kept as findings. The target is the first part of a file's name."""

import argparse
import sys
from pathlib import Path

import bootstrap


def main() -> None:
    """Check each file; the first failure is raised as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", nargs="+", type=Path)
    arguments = parser.parse_args()
    bootstrap.prepare()
    from harness.target import load_target

    for path in arguments.inputs:
        load_target(path.name.split(".")[0]).check(path.read_bytes())
        sys.stdout.write(f"{path.name}: nothing is wrong with it\n")


if __name__ == "__main__":
    main()
