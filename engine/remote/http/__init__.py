"""HTTP to one server: an exchange that can be cancelled at any moment and never hangs."""
