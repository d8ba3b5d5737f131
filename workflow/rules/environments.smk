# The MPIs of the campaign; one that cannot be provided is described all the same.


rule environment:
    output:
        paths.environments_dir() / "{environment}" / "environment.json",
    log:
        CAMPAIGN.results / "log" / "environment-{environment}.log",
    shell:
        "onesided environments --keep-going {wildcards.environment} >{log:q} 2>&1"
