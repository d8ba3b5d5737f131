"""A campaign: its declaration, the sessions that ReFrame runs, and the sessions' results."""
