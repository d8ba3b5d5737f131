"""What the pages of exchanges of messages are made of (docs/llnl.md)."""
