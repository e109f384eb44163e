"""The user's servers, and HTTP to one: an exchange can be cancelled and never hangs."""
