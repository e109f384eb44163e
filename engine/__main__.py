"""``python -m intarsia.engine``: run the engine, as its clients start it."""

import sys

from intarsia.engine.config import parse_arguments
from intarsia.engine.service.process import run_engine

if __name__ == "__main__":
    sys.exit(run_engine(parse_arguments(), foreground=False))
