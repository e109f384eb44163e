"""``intarsia report``: what a report of a fault needs, and nothing of the user's own."""
