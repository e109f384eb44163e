"""Types real files anew through the language server, as an editor does, and judges what it shows.

``typist.py`` is the editor and its user, ``harm.py`` says what an accepted text breaks,
``sessions.py`` draws what is typed from held-out packages, and ``replay.py`` runs and counts.
"""
