# The MPIs of the campaign; one that cannot be provided is described all the same.


rule environment:
    output:
        paths.environment_file("{environment}", CAMPAIGN.provider),
    log:
        CAMPAIGN.results / "log" / "environment-{environment}.log",
    params:
        provider=f"--provider {CAMPAIGN.provider}" if CAMPAIGN.provider else "",
    shell:
        "{ONESIDED} environments {params.provider} --keep-going {wildcards.environment:q} >{log:q} 2>&1"
