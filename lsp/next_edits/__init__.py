"""What a user's edit has left to change: found in idle time, offered in place.

``settled_text`` tells which change is an edit, ``open_offers`` keeps what is offered in a document,
``next_edits`` joins both with the engine, ``held_changes`` are those of a rename by another server,
``messages`` are what clients are sent.
"""
