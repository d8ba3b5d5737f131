"""The smallest campaign of tests, as a document."""

#: It takes seconds: one launch of each thread level under MPICH.
TINY = {
    "schema": "onesided/campaign/1",
    "description": "a test",
    "site": "laptop",
    "partitions": ["laptop:node"],
    "environments": ["mpich-5.0.2"],
    "rounds": 1,
    "select": {"tags": ["smoke"]},
    "settings": ["default"],
    "launch_timeout_s": 60,
}
