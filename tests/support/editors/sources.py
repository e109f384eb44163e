"""Sources that the tests type into; a ``║`` is the cursor, and the model's answers are known."""

SUM = '''def add(left, right):
    """Return the sum of left and right."""
    return║


print(add(1, 2))
'''
"""A space more, and ``left + right`` is suggested."""

LOOP = '''def signs(numbers):
    """Return "positive", "negative" or "zero" for each number."""
    found = []
    for number in numbers:║
    return found


print(signs([1, -2, 0]))
'''
"""A new line more, and the loop's body of several lines is suggested."""

OPENING = '''import json


def load(path):
    """Return the parsed JSON file."""
    with║
'''
"""A space more, and the model is sure of ``open(path`` but not of all that follows."""

HOLES = '''def area(width, height):
    """Return the area of a rectangle."""
    ...║


def perimeter(width, height):
    """Return the perimeter of a rectangle."""
    ...


print(area(2, 3), perimeter(2, 3))
'''
