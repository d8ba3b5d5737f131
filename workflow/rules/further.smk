# Further rounds: each is decided when the sessions of all rounds before it are there.
from onesided.campaign import further


def pointers_before(number):
    return [slot.pointer for slot in slots(CAMPAIGN, range(1, number))]


def every_session(wildcards):
    """Ask one decision after the other, until one says that there is no such round."""
    number, decided = CAMPAIGN.rounds[-1] + 1, []
    while CAMPAIGN.until:
        decided.append(checkpoints.further.get(round=number).output[0])
        if further.read(decided[-1])["end"]:
            break
        number += 1
    return decided + pointers_before(number)


checkpoint further:
    input:
        CAMPAIGN.results / "declared.json",
        lambda wildcards: pointers_before(int(wildcards.round)),
    output:
        further.decision_file(CAMPAIGN, "{round}"),
    log:
        CAMPAIGN.results / "log" / "further-{round}.log",
    shell:
        "{ONESIDED} further {CAMPAIGN.path:q} {wildcards.round} >{log:q} 2>&1"
