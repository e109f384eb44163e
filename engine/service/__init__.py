"""The engine process: socket, scheduler, and the one thread that runs the model."""
