"""Where the user's data is: tunings that were kept, and the key that seals compiled kernels."""

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder for the user's data; INTARSIA_DATA_DIR overrides it."""
    override = os.environ.get("INTARSIA_DATA_DIR")
    if override:
        return Path(override).expanduser()
    import platformdirs  # not for `initialize`

    return platformdirs.user_data_path("intarsia", appauthor=False)
