"""Finds what is to be filled: the hole at a cursor or in a range, or every placeholder of a file.

``hole.find_hole`` and ``hole.hole_for_range`` return a ``Hole``; ``find_holes.find_holes`` returns
the ``MarkedHole`` places of a file, which ``hole.open_marked`` turns into holes.
"""
