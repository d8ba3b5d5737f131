# From sessions to tables, from tables to verdicts, from verdicts to the report.


rule collect:
    input:
        CAMPAIGN.results / "declared.json",
        every_session,
    output:
        CAMPAIGN.results / "cells.parquet",
        CAMPAIGN.results / "samples.parquet",
        CAMPAIGN.results / "launches.parquet",
        CAMPAIGN.results / "campaign.json",
    log:
        CAMPAIGN.results / "log" / "collect.log",
    shell:
        "{ONESIDED} collect {CAMPAIGN.path:q} >{log:q} 2>&1"


rule analyse:
    input:
        rules.collect.output,
    output:
        CAMPAIGN.results / "values.parquet",
        CAMPAIGN.results / "summary.parquet",
        CAMPAIGN.results / "verdicts.json",
    log:
        CAMPAIGN.results / "log" / "analyse.log",
    shell:
        "{ONESIDED} analyse {CAMPAIGN.results:q} >{log:q} 2>&1"


rule report:
    input:
        rules.collect.output,
        rules.analyse.output,
    output:
        CAMPAIGN.results / "report" / "index.html",
    log:
        CAMPAIGN.results / "log" / "report.log",
    shell:
        "{ONESIDED} report {CAMPAIGN.results:q} >{log:q} 2>&1"
