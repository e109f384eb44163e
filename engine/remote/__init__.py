"""Fill holes through a server of another engine, from the user's engine process, without torch."""
