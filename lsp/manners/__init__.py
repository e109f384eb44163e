"""When an automatic request gets no suggestion, in order not to disturb the user: the manners.

An invoked request always gets an answer.
"""
