#!/bin/sh
# What `apptainer run` of an image does: with no argument the quick campaign, its report in ./results;
# else the words are those of the command onesided.
set -eu
. /opt/onesided/containers/scripts/variables.sh
if [ $# -eq 0 ]; then
    set -- run quick
fi
exec onesided "$@"
