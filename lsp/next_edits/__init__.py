"""What a user's edit has left to change: found in idle time, offered in place.

``settled_text`` tells which change is an edit, ``open_offers`` keeps what is offered in a document,
``watched`` is what is known of one document, ``next_edits`` joins these with the engine, and
``messages`` are what clients are sent.
"""
