"""Next edits: the changes that a user's edit has left, found in idle time and offered in place.

``watched`` tells which change is an edit, and what is known of one document, ``open_offers`` keeps
what is offered in it, ``next_edits`` joins these with the engine, and
``messages`` are what clients are sent.
"""
