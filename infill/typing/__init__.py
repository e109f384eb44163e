"""What a change of a text says of the user: typing, a deletion, a paste, an undo. Pure rules."""
