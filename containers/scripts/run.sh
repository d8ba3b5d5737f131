#!/bin/sh
# What `apptainer run` of an image does: with no argument the campaign quick (ONESIDED_CAMPAIGN), its
# report in ./results; else the words are those of the command onesided.
set -eu
. /opt/onesided/containers/scripts/variables.sh
if [ $# -eq 0 ]; then
    set -- run "${ONESIDED_CAMPAIGN:-quick}"
fi
exec onesided "$@"
