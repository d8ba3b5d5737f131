"""Claims of the study: each with the source's section."""

from __future__ import annotations

from onesided.report.claims import Claim

SOURCE = "IBM SG24-5611"


def claim(section: str, words: str, test: object) -> Claim:
    """Return a claim of the source, with its section."""
    return Claim(f"{SOURCE}, section {section}", words, test)  # type: ignore[arg-type]
