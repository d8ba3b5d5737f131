#!/bin/sh
# What `apptainer run --app KERNEL` does: the bare kernel on two ranks (ONESIDED_RANKS) of the image's
# first MPI (ONESIDED_ENVIRONMENT). Its options are the words that follow.
set -eu
. /opt/onesided/containers/scripts/variables.sh
exec python -m onesided.environments.inside launch "$@"
