"""Repairs at errors: when they are looked for, what is known of them, and how they are offered."""
