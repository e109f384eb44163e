"""Who may ask, how much, and how a request is read."""
