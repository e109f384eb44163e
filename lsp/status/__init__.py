"""Status and draft notifications for clients that ask for them."""
