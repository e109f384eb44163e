"""HTTP to one server, over h11: an exchange that can be cancelled at any moment and never hangs."""
