"""A site file to copy, which explains every field that onesided uses.

Copy this file to ``reframe_checks/sites/<site>.py`` (a name of lower-case letters, digits and
underscores), change its content, and remove what is not needed. Then run
``onesided site check reframe_checks/sites/<site>.py`` and
``reframe -C reframe_checks/sites/<site>.py -c reframe_checks -R -t smoke --dry-run``.

Without changes, the file describes a machine without a scheduler. The page docs/add-a-site.md
describes the way from here to a campaign. The page docs/vocabulary.md has every word of this
project.
"""

from onesided import sites

site_configuration = sites.configuration(
    # ReFrame's name of the machine: the first half of `system:partition` in campaigns, reports and
    # references. It need not be the file's name.
    system="template",
    # A line for readers.
    descr="a machine to be described",
    # Regular expressions of the hosts on which ReFrame is started: the login nodes. ReFrame takes
    # the first file whose expression fits; `onesided site check` uses the expressions to tell
    # whether it runs on the site's own machine.
    hostnames=[".*"],
    # One entry for each way of placing ranks that you want to measure. These are the fields of
    # ReFrame's manual (Configuration Reference, System Partition Configuration).
    partitions=[
        {
            # The second half of `system:partition`. Results of different partitions are never
            # pooled.
            "name": "node",
            "descr": "all ranks on one node",
            # The program that starts the job script: local, slurm, squeue (Slurm without
            # accounting), pbs, …
            "scheduler": "local",
            # The program that starts the ranks in the job. `mpiexec` stands for each environment's
            # own launcher; `srun` starts the families in `srun_mpi` (below), and other families
            # use their own launcher.
            "launcher": "mpiexec",
            # Options of every job: queue, account, reservation, whole nodes.
            "access": [],
            # How many jobs ReFrame may have at the scheduler at one time. A session has one;
            # profiles/slurm says how many sessions there are.
            "max_jobs": 1,
            # Longest time of a job: the time-out of a launch (`launch_timeout_s` of the campaign)
            # and some minutes, because a launcher that died is started again for the remaining
            # cells. None means the scheduler's own limit.
            "time_limit": None,
            # Cores of a node; needed if ReFrame runs on another kind of machine (a login node).
            # If ranks outnumber the cores, the launcher is told that ranks share cores. On a local
            # partition, ReFrame finds the number.
            "processor": {},
            # Environments by their names in config/environments.yaml; without this field, all
            # environments.
            "environs": ["mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1", "openmpi-4.1.8"],
            # Modules and variables of every job on this partition. The environment adds others,
            # such as the PATH to its launcher.
            "modules": [],
            "env_vars": [],
            # Where the ranks are: either `one_node` or `network` (on several nodes).
            # Words of your own begin with `site_`.
            "features": ["one_node"],
            "extras": {
                # Numbers of ranks of all checks, unless a campaign asks for others (docs/ranks.md):
                #   "ranks": {"powers_of_two_up_to": "cores", "max": 256},
                # With `network`: how many ranks a node gets. With 1, two ranks are on two nodes.
                #   "ranks_per_node": 1,
                # With `network`: how many nodes a job gets at most. A test that needs more is
                # skipped. Without this field, the scheduler refuses the job and the test fails.
                #   "nodes": 4,
                # With the launcher srun: the value of its --mpi for each family that Slurm is to
                # start; `srun --mpi=list` lists the possible values.
                #   "srun_mpi": {"mpich": "pmi2", "impi": "pmi2", "openmpi": "pmix"},
                # With a launcher that is neither mpiexec nor srun: its options for ranks that may
                # run on every core, and for ranks that keep to one core each.
                #   "launcher_placement": {"unbound": [], "core": []},
            },
        }
    ],
    # Modules that jobs load: lmod, tmod4, … (ReFrame's manual, System Configuration). Any other
    # field of ReFrame's system entry can be here, too.
    modules_system="nomod",
    # ReFrame's general options, such as how often it asks the scheduler (times a second).
    general={},
)
