# Sessions: one ReFrame run for a partition and round, one at a time on a machine. It carries all
# environments, unless the profile lets sessions run side by side: then each session has its own.
from onesided.campaign.slot import check_sources
from onesided.environments import fingerprint

MOST_ROUNDS = (CAMPAIGN.until or {}).get("at_most_rounds", CAMPAIGN.rounds[-1])
EVERY_SLOT = slots(CAMPAIGN, range(1, MOST_ROUNDS + 1))
ORDER = {slot.pointer: -number for number, slot in enumerate(EVERY_SLOT)}
SIDE_BY_SIDE = "session" in workflow.resource_settings.overwrite_threads
WHICH = ["{environment}"] if SIDE_BY_SIDE else CAMPAIGN.environments
WHOSE = WHICH[0] if SIDE_BY_SIDE else "all"


def environments_of(wildcards):
    return [wildcards.environment] if SIDE_BY_SIDE else CAMPAIGN.environments


def priority_of(wildcards):
    pointers = (
        CAMPAIGN.results / "sessions" / name / wildcards.partition / f"round-{wildcards.round}.json"
        for name in environments_of(wildcards)
    )
    return max(ORDER[pointer] for pointer in pointers)


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
        [paths.environment_file(name, CAMPAIGN.provider) for name in WHICH],
        paths.config_dir() / "settings.yaml",
        fingerprint.kernel_sources(),
        check_sources(),
        decision_of,
    output:
        [CAMPAIGN.results / "sessions" / name / "{partition}" / "round-{round}.json" for name in WHICH],
    log:
        CAMPAIGN.results / "log" / f"session-{WHOSE}-{{partition}}-{{round}}.log",
    params:
        partition=lambda wildcards: wildcards.partition.replace(".", ":"),
        environments=lambda wildcards: ",".join(environments_of(wildcards)),
    threads: workflow.cores
    priority: priority_of
    shell:
        "{ONESIDED} session {CAMPAIGN.path:q} {params.partition:q}"
        " {params.environments:q} {wildcards.round:q} >{log:q} 2>&1"
