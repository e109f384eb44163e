"""How to call pip for a download: this Python's own, or through uv where it has none."""

import importlib.util
import shutil
import sys

from intarsia.engine.default_model.source_error import SourceError


def pip_command() -> list[str]:
    """Return the command's beginning. Raises SourceError where there is neither pip nor uv."""
    if importlib.util.find_spec("pip") is not None:
        # -P: a file called pip.py in the folder that we are called from is not pip.
        return [sys.executable, "-P", "-m", "pip"]
    if uv := shutil.which("uv"):
        return [uv, "tool", "run", "--python", sys.executable, "pip"]
    raise SourceError("neither pip nor uv is there to fetch wheels: python -m ensurepip")
