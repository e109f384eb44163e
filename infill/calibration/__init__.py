"""How probable it is that a user keeps a suggestion, and how much of it is probable enough."""
