"""The pages of the study of an IBM SP (docs/redbook/README.md)."""
