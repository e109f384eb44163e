def is_leap(year):
    """Whether a year has 366 days in the Gregorian calendar."""
    return year % 4 == 0
