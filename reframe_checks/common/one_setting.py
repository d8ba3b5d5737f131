"""Checks with one setting and the lowest thread level."""

import reframe.core.builtins as builtins

from ..plugins.grid import LOWEST_LEVEL
from .base import OnesidedCheck


class OneSetting(OnesidedCheck):
    """A launch with a question that does not concern settings or threads."""

    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
