"""Train LoRA weights for filling holes, from a corpus or from a user's own repository.

Public interface: ``run.run_training`` for a corpus, ``repository_run.train_on`` for a repository.
The engine imports nothing from here; it only reads the weight files that training writes.
"""
