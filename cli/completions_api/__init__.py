"""``intarsia api``: an OpenAI-compatible completions API, reachable from this machine only.

``command`` is the command, ``http`` the server, ``prompt`` reads requests and ``completions``
answers them.
"""
