"""What a container costs, in a sentence an environment."""

from __future__ import annotations

from collections.abc import Sequence

from onesided.compare import weigh
from onesided.compare.weigh import Difference
from onesided.report import numbers
from onesided.report.containers.twins import Held, Twin, is_lost, is_turned, lost_words
from onesided.report.parts import Prose


def _without_native(twin: Twin) -> str:
    return f"{twin.name} stands alone: this campaign has no cells of {twin.native} to compare."


def answer(held: Held, alone: Sequence[Twin]) -> Prose:
    """Say in one sentence an environment what it costs, verdicts first."""
    said = []
    for twin in held.twins:
        whole = held.whole(twin)
        own = held.of(twin)
        turned = sum(map(is_turned, own))
        if is_lost(own):
            said.append(f"{twin.name} beside {twin.native}: {lost_words(own)}.")
            continue
        words = [numbers.count(turned, "verdict differs", "verdicts differ")]
        words = words if turned else ["no verdict differs"]
        words.append(_cost(whole.difference) if whole else "nothing was timed in both")
        said.append(f"{twin.name} beside {twin.native}: {', '.join(words)}.")
    return Prose("In short", [*said, *map(_without_native, alone)])


def _cost(difference: Difference) -> str:
    ratio = numbers.factor(difference.ratio)
    if difference.word == weigh.NOT_TESTED:
        return f"{ratio} the native value, {weigh.NOT_TESTED} to tell it from noise"
    if not difference.is_significant:
        return f"no slower or faster beyond noise ({ratio})"
    return f"{difference.word}, {ratio} the native value"
