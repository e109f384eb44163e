"""Open documents as frozen values, whether they get suggestions, and which parts were shown."""
