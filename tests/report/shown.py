"""The pages of a synthetic campaign, without a written report."""

from __future__ import annotations

from made_up.generator import MPICH, OPENMPI

from onesided.measure.analyse import analyse
from onesided.report.claims import Claims
from onesided.report.material import load
from onesided.studies import find


def materials(make, folder, **options):
    """Make a campaign with a function, analyse it; return each experiment's material by kernel."""
    make(folder, **options)
    analyse(folder, find())
    return {one.experiment.kernel: one for one in load(folder, find()).materials()}


def parts(material, *kinds):
    """Return the parts of some kinds from a page's contents: figures take long to draw."""
    contents = material.experiment.page.contents
    return [part for one in contents if isinstance(one, kinds) for part in one.parts(material)]


def words_with(material, environment):
    """Return the outcome of each claim with an MPI. Tables of only one setting come later."""
    claims, *_ = parts(material, Claims)
    return [row[environment] for row in claims.rows]


def words(material):
    """Return the outcome of each claim with the first MPI; the other MPI has the same outcomes."""
    found = words_with(material, MPICH)
    assert found == words_with(material, OPENMPI)
    return found
