"""``intarsia api``: completions for editors and plugins that speak another engine's HTTP API.

``command`` is the command and ``server`` the table of addresses. ``dialects/`` has one file for
each API, ``holes/`` turns what they ask into fills, ``http/`` reads and guards.
"""
