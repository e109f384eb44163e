"""Tells lines that import something, in the common languages."""

import re

_IMPORT = re.compile(
    r"\s*(?:import\b|from\s+\S+\s+import|use\s|pub use|extern crate|#\s*include\b|using\s"
    r"|(?:const|let|var)\s.*require\(|require(?:_relative)?\s|export\s.*\sfrom\s"
    r"|\"[\w./-]+\"$|\w+\s+\"[\w./-]+\"$)"
)


def is_import(line: str) -> bool:
    """Whether a line imports something. A line of a list of imports need not be told."""
    return _IMPORT.match(line) is not None


def are_imports(text: str) -> bool:
    """Whether a text has lines, and all that are not empty import something."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(map(is_import, lines))
