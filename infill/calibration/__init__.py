"""How probable it is that a user keeps a suggestion, and how much of it is probable enough.

``evidence.py`` sums up the confidences of a text's tokens, ``calibration.py`` turns that into a
probability by coefficients that were fitted on holes with known text (``fitted.py``), and
``shown_part.py`` compares the probability with the user's threshold.
"""
