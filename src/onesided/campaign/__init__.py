"""A campaign: what it declares, the sessions that ReFrame runs for it, what they wrote."""
