"""Why a corpus cannot be made."""


class CorpusFault(Exception):
    """The message is one line: what, and what to do."""
