"""``python -m intarsia.cli``: the same as the program ``intarsia``."""

from intarsia.cli.main import main

main()
