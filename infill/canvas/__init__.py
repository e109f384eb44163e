"""Builds the canvas of a hole: what the model sees around it, and where its text must end.

``canvas.build_canvas`` makes one, without other placeholders where there are some, and says where
its hole ends; ``window`` cuts prefix and suffix to a budget, ``imports_above`` has the prefix begin
with imports.
"""
