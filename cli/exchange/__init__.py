"""``intarsia export`` and ``intarsia import``: tunings and models in other projects' formats."""
