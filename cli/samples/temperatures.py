"""Readings of a thermometer, in degrees Celsius."""


class TemperatureLog:
    """Remembers every reading of one thermometer."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.readings: list[float] = []

    def add(self, celsius: float) -> None:
        self.readings.append(celsius)

    def average(self) -> float:
        

    def hottest(self) -> float:
        if not self.readings:
            raise ValueError(f"no readings for {self.place}")
        return max(self.readings)
