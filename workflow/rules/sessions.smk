# Sessions: one ReFrame run for a partition, environment and round, one at a time on a machine.
from onesided.campaign.slot import check_sources
from onesided.environments import fingerprint

MOST_ROUNDS = (CAMPAIGN.until or {}).get("at_most_rounds", CAMPAIGN.rounds[-1])
EVERY_SLOT = slots(CAMPAIGN, range(1, MOST_ROUNDS + 1))
ORDER = {slot.pointer: -number for number, slot in enumerate(EVERY_SLOT)}


def priority_of(wildcards):
    pointer = (
        CAMPAIGN.results
        / "sessions"
        / wildcards.environment
        / wildcards.partition
        / f"round-{wildcards.round}.json"
    )
    return ORDER[pointer]


def decision_of(wildcards):
    number = int(wildcards.round)
    is_further = further.is_further(CAMPAIGN, number)
    return further.decision_file(CAMPAIGN, number) if is_further else []


rule declare:
    input:
        CAMPAIGN.path,
        paths.config_dir() / "settings.yaml",
        check_sources(),
    output:
        CAMPAIGN.results / "declared.json",
    log:
        CAMPAIGN.results / "log" / "declare.log",
    shell:
        "{ONESIDED} declare {CAMPAIGN.path:q} >{log:q} 2>&1"


# Changed sources, checks or environments call the rule again; what an old session is worth then
# is for `onesided session` to say, by its fingerprint.
rule session:
    input:
        CAMPAIGN.path,
        CAMPAIGN.results / "declared.json",
        paths.environment_file("{environment}", CAMPAIGN.provider),
        paths.config_dir() / "settings.yaml",
        fingerprint.kernel_sources(),
        check_sources(),
        decision_of,
    output:
        CAMPAIGN.results / "sessions" / "{environment}" / "{partition}" / "round-{round}.json",
    log:
        CAMPAIGN.results / "log" / "session-{environment}-{partition}-{round}.log",
    params:
        partition=lambda wildcards: wildcards.partition.replace(".", ":"),
    threads: workflow.cores
    priority: priority_of
    shell:
        "{ONESIDED} session {CAMPAIGN.path:q} {params.partition:q}"
        " {wildcards.environment:q} {wildcards.round:q} >{log:q} 2>&1"
