"""``python -m intarsia.cli``: the same as the command ``intarsia``."""

from intarsia.cli.main import main

main()
