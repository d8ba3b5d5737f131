"""Read the decisions about further rounds: rounds in which only some cells run again.

For each further round, the command `decide` writes a file with the cells of the round. A file
without cells ends the campaign's further rounds and says why.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from onesided.campaign import grid
from onesided.campaign.campaign import Campaign
from onesided.campaign.declared import cells_of
from onesided.system import documents

FURTHER_SCHEMA = "onesided/further/1"

Decision = dict[str, Any]


def is_further(campaign: Campaign, number: int) -> bool:
    """Tell whether a round is a further round, in which only some cells run."""
    return number > campaign.rounds[-1]


def decision_file(campaign: Campaign, number: int | str) -> Path:
    """Return the path of the file with the cells of a further round."""
    return campaign.results / "further" / f"round-{number}.json"


def read(path: str | Path) -> Decision:
    """Read the decision file of a further round, which names the cells that run in this round.

    Raises:
        InputError: the file is missing, cut, or of another schema version.
    """
    return documents.read_json(Path(path), "further")


def decisions(campaign: Campaign) -> list[Decision]:
    """Return the decisions about further rounds so far, in order.

    If further rounds ended, the last decision names no cell.
    """
    found: list[Decision] = []
    while campaign.until and not (found and found[-1]["end"]):
        path = decision_file(campaign, campaign.rounds[-1] + 1 + len(found))
        if not path.exists():
            break
        found.append(read(path))
    return found


def decided_rounds(found: Iterable[Decision]) -> list[int]:
    """Return the numbers of the further rounds in which at least one cell runs."""
    return [decision["round"] for decision in found if decision["cells"]]


def end(found: list[Decision]) -> str | None:
    """Return why the further rounds ended; None if no decision so far has ended them."""
    return found[-1]["end"] if found else None


def tests_in(
    campaign: Campaign, number: int, tests: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the declared tests that run in a round.

    In a further round, each test has only the chosen cells. Tests that need only one launch run
    only in the first round. If all tests of a campaign need only one launch, they run in every
    round.

    Raises:
        InputError: no decision says which cells the round has.
    """
    if number == campaign.rounds[0]:
        return list(tests)
    if not is_further(campaign, number):
        return [test for test in tests if not test.get("first_round_only")] or list(tests)
    chosen = read(decision_file(campaign, number))["cells"]
    return [_narrowed(test, chosen[test["test"]]) for test in tests if test["test"] in chosen]


def _narrowed(test: dict[str, Any], chosen: dict[str, str]) -> dict[str, Any]:
    crosses = grid.narrowed(test["base_point"], test["crosses"], chosen)
    share = len(crosses) / len(cells_of(test))
    return {**test, "crosses": crosses, "expected_s": share * test.get("expected_s", 0.0)}


def line(decision: Decision) -> str:
    """Return a line that says how many cells run again in a further round, and for what reasons."""
    number, cells = decision["round"], decision["cells"]
    if not cells:
        return f"there is no round {number}: {decision['end']}"
    reasons = Counter(why for chosen in cells.values() for why in chosen.values())
    why = ", ".join(f"{count} {word}" for word, count in sorted(reasons.items()))
    return f"round {number} is for {sum(reasons.values())} cells of each environment: {why}"
