#!/bin/sh
# Ask an MPI which transport its windows take: an untimed launch a flavor, whose text is kept.
#
#   transport_report.sh CACHE TIMEOUT_S FLAVORS LAUNCHER [OPTION...] KERNEL [OPTION...]
#
# Leaves transport-<flavor>.txt in the working folder: what the library printed, the kernel's lines,
# the exit status. CACHE keeps these files: its name says everything that they depend on. A launch
# that takes longer than TIMEOUT_S is ended, and its report ends there. The script always exits 0,
# so that a launch is measured even if its transport is not known.
set -u
export LC_ALL=C

cache=$1 timeout_s=$2 flavors=$3
shift 3
. "${0%/*}/strays.sh"
grace_s=2

# Leaves the report in $cache/$1.partial; fails if it may turn out another one next time.
ask() {
    flavor=$1
    shift
    marker="$$-transport-$flavor-$(date +%s%N)"
    begin=$(date +%s)
    ONESIDED_LAUNCH=$marker timeout --kill-after="$grace_s" "$timeout_s" \
        "$@" --flavor "$flavor" --output "$cache/$flavor.lines" \
        >"$cache/$flavor.partial" 2>&1 </dev/null 9>&-
    status=$?
    took=$(($(date +%s) - begin))
    if [ "$status" -ne 0 ]; then
        end_strays "$marker"
        # for the session to clear shared memory
        [ -z "${ONESIDED_SESSION:-}" ] ||
            echo "$cache/$flavor" >>"$ONESIDED_SESSION/transport_failures"
    fi
    {
        printf '\n'
        [ ! -e "$cache/$flavor.lines" ] || cat "$cache/$flavor.lines"
        printf 'exit status %d\n' "$status"
    } >>"$cache/$flavor.partial"
    rm -f "$cache/$flavor.lines"
    # a signal that was not ours: somebody ended it, and soon ends this script
    [ "$status" -le 128 ] || [ "$took" -ge "$timeout_s" ]
}

mkdir -p "$cache" || exit 0
exec 9>"$cache/lock"
! command -v flock >/dev/null || flock 9
for flavor in $flavors; do
    if [ ! -e "$cache/$flavor.txt" ]; then
        rm -f "$cache/$flavor.lines"
        if ask "$flavor" "$@"; then
            mv "$cache/$flavor.partial" "$cache/$flavor.txt"
        else
            mv "$cache/$flavor.partial" "transport-$flavor.txt"
            continue
        fi
    fi
    cp "$cache/$flavor.txt" "transport-$flavor.txt"
done
exit 0
