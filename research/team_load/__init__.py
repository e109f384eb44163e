"""How many users a team's engine serves: measured on this machine, and simulated beyond it."""
