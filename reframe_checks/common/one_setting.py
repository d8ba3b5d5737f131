"""Checks with only the default setting and the lowest thread level."""

import reframe.core.builtins as builtins

from ..plugins.grid import LOWEST_LEVEL
from .base import OnesidedCheck


class OneSetting(OnesidedCheck):
    """A test of a question on which settings and thread levels have no influence."""

    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
