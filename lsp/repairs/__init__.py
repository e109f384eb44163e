"""Repairs at errors: when they are looked for, and what was found."""
