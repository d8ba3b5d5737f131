"""Parts that several studies share."""
