#!/bin/sh
# Ask an MPI which transport its windows take: an untimed launch a flavor, whose text is kept.
#
#   transport_report.sh CACHE TIMEOUT_S ORDER FLAVORS LAUNCHER [OPTION...] KERNEL [OPTION...]
#
# Leaves transport-<flavor>.txt in the working folder: what the library printed, the kernel's lines,
# the exit status. CACHE keeps these files: its name says everything that they depend on. A launch
# that takes longer than TIMEOUT_S is ended, and its report ends there. ORDER is side_by_side or
# in_turn: a scheduler may let the second launch wait for the first. The script always exits 0, so
# that a launch is measured even if its transport is not known.
set -u
export LC_ALL=C

cache=$1 timeout_s=$2 order=$3 flavors=$4
shift 4
. "${0%/*}/strays.sh"
grace_s=2

# Leaves the report of the flavor $1 in the cache, or beside it if it may be another one next time.
ask() {
    flavor=$1
    shift
    rm -f "$cache/$flavor.lines"
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
    if [ "$status" -le 128 ] || [ "$took" -ge "$timeout_s" ]; then
        mv "$cache/$flavor.partial" "$cache/$flavor.txt"
    else # a signal that was not ours: somebody ended it, and soon ends this script
        mv "$cache/$flavor.partial" "transport-$flavor.txt"
    fi
}

mkdir -p "$cache" || exit 0
exec 9>"$cache/lock"
! command -v flock >/dev/null || flock 9
for flavor in $flavors; do
    [ ! -e "$cache/$flavor.txt" ] || continue
    ask "$flavor" "$@" &
    [ "$order" = side_by_side ] || wait
done
wait
for flavor in $flavors; do
    [ ! -e "$cache/$flavor.txt" ] || cp "$cache/$flavor.txt" "transport-$flavor.txt"
done
exit 0
