"""Trains the edit adapter: to repeat an edit at another place, or to leave that place alone."""
