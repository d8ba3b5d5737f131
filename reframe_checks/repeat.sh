#!/bin/sh
# Run a launch, and repeat it while the answer to a question about its files is yes.
#
#   repeat.sh LINES RECORD QUESTION LAUNCH_SCRIPT...
#
# LINES and RECORD are the files of the launch, QUESTION is a shell command that exits 0 for yes.
# The files of each launch but the last are kept in launch-1, launch-2, ...
set -u
if [ $# -lt 4 ]; then
    echo "repeat.sh: found $# arguments; expected LINES RECORD QUESTION LAUNCH_SCRIPT..." >&2
    exit 2
fi
lines=$1 record=$2 question=$3
shift 3
launch=1
"$@"
while sh -c "$question"; do
    mkdir "launch-$launch" || exit
    mv "$lines"* "$record" "launch-$launch/" || exit
    launch=$((launch + 1))
    "$@"
done
