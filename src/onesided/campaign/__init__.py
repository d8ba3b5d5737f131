"""A campaign: its declaration, the sessions that ReFrame runs for it, and their results."""
