"""Open documents as frozen values, and by which settings they get suggestions."""
