"""Is the data right? In two sentences, for the first screen and the terminal of any campaign."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.parts import Headline, Section
from onesided.report.words import listed
from onesided.studies.data import answer, found

SECTION = "known-defects"
PAGE = "conformance"
"""Identifier of the section that has the whole of it, where a campaign compares data."""

NOT_ASKED = (
    "The operations timed here were verified. Whether other calls, datatypes and windows are "
    "right, this campaign does not ask"
)


def environments_of(record: Mapping[str, Any]) -> list[str]:
    """Return a campaign's MPIs, by name."""
    every = record.get("environments", [])
    return [one["name"] for one in every if "name" in one and one.get("library", "MPI") == "MPI"]


def section(record: Mapping[str, Any]) -> Section | None:
    """Return the known defects of a campaign without a page on data; None where none is known."""
    every = found.known_of(record, environments_of(record))
    if not every:
        return None
    lead = Markup(
        "This campaign verified the operations that it timed, and no others; <code>{}</code> tries "
        "them. What is known of the versions of this report all the same:"
    ).format(answer.CAMPAIGN)
    return Section(SECTION, "Known wrong data", lead, [found.table(every, {})])


def sentences(record: Mapping[str, Any], headline: Headline | None) -> list[str | Markup]:
    """Return what a first screen says of data; nothing for a campaign without an MPI.

    Args:
        record: the campaign's.
        headline: what its page on data says; None where it has none.
    """
    names = environments_of(record)
    if not names:
        return []
    if headline:
        said = list(headline.brief)
    else:
        said = [Markup("{}; <code>{}</code> does.").format(NOT_ASKED, answer.CAMPAIGN)]
    every = found.known_of(record, names)
    default = [one.environment for one in every if one.is_default]
    if default:
        counts = [f"{default.count(name)} in {name}" for name in dict.fromkeys(default)]
        several = len(default) > len({one.defect.text for one in every if one.is_default})
        twice = " A defect of two MPIs is counted in each." if several else ""
        text = Markup("Known defects of these versions with {}: {}.{}")
        said.append(text.format(answer.NO_VARIABLE, listed(counts), twice))
    elif every:
        text = Markup("Known under other settings than the default: {}.")
        said.append(text.format(numbers.count(len(every), "defect")))
    if every and headline:
        met = sum(row["met"] for row in headline.table.rows)
        said.append(answer.met_words(met, len(every)))
    return said
