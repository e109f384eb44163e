"""The engine: a process that holds the model and answers fills. Clients import ``ipc`` only."""

import os

# NumPy has only small products left. Its threads would wait busily beside those of a pass, which
# then takes twice as long. It reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
