# The campaign as a graph: environments, sessions round by round, tables, verdicts, report.
# `onesided run` calls it, and so can you: snakemake --config campaign=quick
import shlex
import sys

from onesided.campaign import campaign as campaigns
from onesided.campaign.slot import slots
from onesided.system import paths, surroundings

# of the Python and the package that this is; the folder a job is in has none
ONESIDED = shlex.join([sys.executable, "-P", "-m", "onesided.cli"])
CAMPAIGN = campaigns.load(config.get("campaign", "quick"))
# before Snakemake sets variables of its own for jobs
surroundings.clear()
CAMPAIGN.keep_environment()


wildcard_constraints:
    round=r"\d+",


include: "workflow/rules/environments.smk"
include: "workflow/rules/further.smk"
include: "workflow/rules/sessions.smk"
include: "workflow/rules/results.smk"


rule all:
    default_target: True
    input:
        rules.collect.output,
        rules.analyse.output,
        rules.report.output,
