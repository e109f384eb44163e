"""The user's servers, and HTTP to one: an exchange can be cancelled at any moment, and never hangs."""
