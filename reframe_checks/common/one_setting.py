"""Checks with only the default setting and the lowest thread level."""

import reframe.core.builtins as builtins

from ..plugins.grid import LOWEST_LEVEL
from .base import OnesidedCheck


class OneSetting(OnesidedCheck):
    """A test whose result does not depend on the setting and the thread level."""

    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
