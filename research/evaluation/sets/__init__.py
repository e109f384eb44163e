"""The sources of cases: the built-in set, HumanEval Infilling and any repository."""
