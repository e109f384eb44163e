"""The machine of a benchmark: what it is, and the energy that it uses."""
