"""How latency and bandwidth of each change with the number that communicate at once.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
equations 6.1 and 6.2: the latency of each of N is L(1) + (N - 1) dL, the bandwidth B(1) / N. Here
the bandwidth is B(1) / N^e, with an exponent e that is fitted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping


def added_latency(latencies: Mapping[int, float]) -> float | None:
    """Return dL by least squares over all N, with L(1) as measured; None without L(1) or another.

    Args:
        latencies: L by N, in any unit.
    """
    if 1 not in latencies or len(latencies) < 2:
        return None
    products = ((n - 1) * (latency - latencies[1]) for n, latency in latencies.items())
    return sum(products) / sum((n - 1) ** 2 for n in latencies)


def exponent(bandwidths: Mapping[int, float]) -> float | None:
    """Return e by least squares of the logarithms over all N, with B(1) as measured.

    None without B(1) or another.

    Args:
        bandwidths: B by N, in any unit.
    """
    if 1 not in bandwidths or len(bandwidths) < 2:
        return None
    products = (math.log(n) * math.log(bandwidths[1] / each) for n, each in bandwidths.items())
    return sum(products) / sum(math.log(n) ** 2 for n in bandwidths)
