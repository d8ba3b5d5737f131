"""A compiled schema accepts no document that the slower check refuses."""

from __future__ import annotations

import pytest
from synthetic_lines import further, header, result, started

from onesided.system import documents
from onesided.system.errors import InputError

VERDICT = {
    "system": "here",
    "partition": "node",
    "environment": "mpi-1",
    "test": "counter",
    "thread_level": "single",
    "setting": None,
    "ranks": 2,
    "placement": "unbound",
    "launch_model": "native",
    "kernel": "counter",
    "cell": "a=1",
    "labels": {"a": 1},
    "verdict": "waits",
    "detail": None,
    "launches": 3,
    "valid_launches": 2,
    "early_fractions": [0.5],
    "tau_s": None,
    "oversubscribed": False,
}
FIGURE = {
    "value": 1e-6,
    "upper": 2e-6,
    "misses": 2,
    "unit": "s",
    "launches": 6,
    "of": {"series": "access", "over_ranks": "max", "origins": True},
}
REFERENCES = {
    "schema": "onesided/references/2",
    "system": "here",
    "partition": "node",
    "environment": "mpi-1",
    "campaign": "quick",
    "tests": {"counter": {"a=1": "waits"}},
    "near_s": 1e-6,
    "least_width": 0.9,
    "refused": {"counter": {"b": "too few"}},
    "figures": {"counter": {"price": FIGURE}},
}
LINES = [header(), started("c=1"), result("c=1"), further("c=1")]
DOCUMENTS = [
    *((part, line) for line in LINES for part in ("line", f"line#{line['type']}")),
    ("verdicts", {"schema": "onesided/verdicts/3", "cells": [VERDICT]}),
    ("references", REFERENCES),
]


def faulty(document):
    """Yield copies of a document, each with a missing, wrong or unknown field."""
    for field, value in document.items():
        yield {name: other for name, other in document.items() if name != field}
        for wrong in (None, -1, 0.5, "", "../outside", "a;b", [3], {"x": [None]}, True):
            if wrong != value:
                yield {**document, field: wrong}
        if isinstance(value, dict):
            for part in faulty(value):
                yield {**document, field: part}
        if isinstance(value, list) and value and isinstance(value[0], dict):
            for part in faulty(value[0]):
                yield {**document, field: [part]}
    yield {**document, "unknown": 1}


@pytest.mark.one_case
@pytest.mark.parametrize(
    "schema, document", DOCUMENTS, ids=lambda one: one if isinstance(one, str) else ""
)
def test_what_says_quickly_that_a_document_fits_says_no_more_than_what_can_say_why_not(
    schema, document
):
    assert documents._fits(schema) is not None
    documents.check(document, schema, "here")
    seen = 0
    for wrong in faulty(document):
        if list(documents._validator(schema).iter_errors(wrong)):
            seen += 1
            with pytest.raises(InputError):
                documents.check(wrong, schema, "here")
        else:
            documents.check(wrong, schema, "here")
    assert seen >= len(document)
