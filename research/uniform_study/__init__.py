"""Measures a uniform-state variant of the default model on a machine that knows token ids alone.

    cases ── encoded_cases.py ──▶ ids ── that machine ──▶ ids ── judged_answers.py ──▶ runs

A run is a file of ``eval``, which can show it and compare it.
"""
