#!/usr/bin/env python3
"""Write config/campaign_sizes.json: the payload sizes of each declared campaign.

Call this after a check's sizes or a campaign's selection have changed. It asks ReFrame about each
campaign, which takes a minute or two. With more cores, campaigns may have further sizes: the file
has the sizes for two cores.
"""

from __future__ import annotations

import json
import os
import re

from onesided.campaign import campaign, declared
from onesided.system import paths, writing


def main() -> None:
    """Write the file of sizes, and print the number of tests of each campaign."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    kernels: dict[str, dict[str, list[int]]] = {}
    for path in sorted((paths.config_dir() / "campaigns").glob("*.yaml")):
        tests = declared.describe(campaign.load(path.stem))
        for kernel, found in declared.sizes_of(tests).items():
            kernels.setdefault(kernel, {})[path.stem] = found
        print(f"{path.stem}: {len(tests)} tests", flush=True)
    document = {"schema": declared.SIZES_SCHEMA, "kernels": dict(sorted(kernels.items()))}
    text = json.dumps(document, indent=1)
    # a list of numbers is one line
    lists = re.compile(r"\[\s+([\d,\s]+?)\s+\]")
    lines = lists.sub(lambda one: f"[{' '.join(one.group(1).split())}]", text)
    writing.write_text(declared.sizes_file(), f"{lines}\n")


if __name__ == "__main__":
    main()
