"""The campaigns that there are, and how long each takes: measured here, or its declared size."""

from __future__ import annotations

from pathlib import Path

from onesided.campaign import campaign as campaigns
from onesided.campaign.campaign import Campaign
from onesided.system import documents, paths
from onesided.system.errors import InputError


def lines() -> list[str]:
    """Return a line for each campaign of ``config/campaigns``: name, time, description.

    Raises:
        InputError: a file of a campaign is faulty.
    """
    folder = paths.config_dir() / "campaigns"
    found = [campaigns.load(path.stem) for path in sorted(folder.glob("*.yaml"))]
    rows = [(one.name, time_of(one), one.document["description"]) for one in found]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return [
        f"{name:{widths[0]}}  {time:{widths[1]}}  {description}" for name, time, description in rows
    ]


def time_of(campaign: Campaign) -> str:
    """Return how long a campaign took on this machine, else what its file says of its size."""
    took_s = _took_s(campaign.results)
    if took_s is not None:
        return f"took {_minutes(took_s)} here"
    count = len(campaign.rounds)
    size = f"{_counted(count, 'round')} of {_counted(len(campaign.environments), 'MPI')}"
    most = (campaign.until or {}).get("at_most_minutes")
    if most is not None:
        return f"{size}, and further ones in the first {most:g} min"
    return f"{size}; never run here"


def _took_s(results: Path) -> float | None:
    """Return the seconds that a campaign took, None without a record that can be read."""
    try:
        record = documents.read_json(results / "campaign.json", "campaign_record")
    except InputError:
        return None
    return (record.get("timing") or {}).get("wall_s")


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f} min"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"
