"""Read a campaign file, run the campaign's sessions with ReFrame, and read their results."""
