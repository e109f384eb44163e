"""Builds the canvas of a hole: what the model sees around it, and where its text must end.

``canvas.build_canvas`` makes one; ``window`` cuts prefix and suffix to a budget, ``stop_rules`` say
where the hole ends, and ``hide_other_holes`` removes other placeholders from the model's view.
"""
