"""When an automatic request is left without a suggestion, so that none disturbs: the manners.

An invoked request always gets an answer.
"""
