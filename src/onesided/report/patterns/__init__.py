"""What the pages of communication patterns are made of (docs/luecke.md)."""
