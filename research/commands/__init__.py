"""The commands of ``python -m intarsia_research``."""
