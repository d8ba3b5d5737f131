"""The providers of MPIs, by the name that declarations and documents give each."""

from __future__ import annotations

from onesided.environments.providers.container import Container
from onesided.environments.providers.provider import Provider
from onesided.environments.providers.spack import Spack
from onesided.environments.providers.system import System
from onesided.environments.providers.wheel import Wheel

_NATIVE: dict[str, Provider] = {one.name: one for one in (Wheel(), System())}
PROVIDERS = _NATIVE | {one.name: one for one in (Spack(_NATIVE), Container(_NATIVE))}
