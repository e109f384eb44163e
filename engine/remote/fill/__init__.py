"""Holes on each kind of server: of token ids, of text, of canvases, and a team's engine."""
