#!/bin/sh
# Run one launch of a kernel, and further launches for the rest if it dies, until every cell is done.
#
#   launch.sh LINES RECORD TIMEOUT_S LAUNCHER [OPTION...] KERNEL [OPTION...]
#
# LINES is the kernel's JSON-lines file, RECORD gets two JSON lines for each launcher started: when
# it starts and when it ends. The kernel must be called with --missing, so that a relaunch leaves
# out the cells that are over and the one that ended the launch before. A launcher that ends in
# silence before its first cell, as when one of its ranks is killed from outside, is started once
# more. A launcher that died after its last cell is not: nothing is left to run. The lines decide
# whether a launch is finished, for the exit codes of killed ranks differ between MPIs. The script
# always exits 0, except for a usage error: the two files say what failed.
#
# In a session, ONESIDED_TIMEOUTS is a file with a line for each time-out in a row of an MPI and a
# setting.
set -u
export LC_ALL=C

if [ $# -lt 4 ]; then
    echo "launch.sh: found $# arguments; expected LINES RECORD TIMEOUT_S LAUNCHER..." >&2
    exit 2
fi
lines=$1 record=$2 timeout_s=$3
shift 3
. "${0%/*}/strays.sh"

most_launches=64
grace_s=5
# so many launchers in a row that ended in their first cell, and so long: it hangs whatever the cell
most_fruitless=3
most_fruitless_s=20
launch=0
is_second_try=false
fruitless=0
fruitless_since=0

count() { # lines of the kernel's file that start with the pattern $1
    if [ -e "$lines" ]; then grep -c "^{\"type\":\"$1\"" "$lines"; else echo 0; fi
}

declared() { # cells of the launch, as the last header has them; 0 without one
    [ -e "$lines" ] || { echo 0; return; }
    sed -n 's/^{"type":"header".*"cells":\[\([^]]*\)\].*/\1/p' "$lines" |
        awk -F '","' '{ cells = NF } END { print cells + 0 }'
}

every_cell_is_over() { # what came after the last one, such as a crash in MPI_Finalize, is no cell
    cells=$(declared)
    [ "$cells" -gt 0 ] && [ "$(count result)" -ge "$cells" ]
}

words() { # lines that ranks left before a cell, or of their ends
    cat "$lines".hang-* "$lines".crash-* 2>/dev/null | wc -l
}

# which host the launcher is on, and which cores it may use: ranks there that may use all of them are
# not bound, be it one core
ONESIDED_LAUNCHER_CPUS=$(uname -n):$(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)
export ONESIDED_LAUNCHER_CPUS

streak=${ONESIDED_TIMEOUTS:-}

note_time_out() { # how many launchers of the setting timed out in a row
    [ -n "$streak" ] || return 0
    if [ "$1" = true ]; then
        echo "$record" >>"$streak"
    else
        : >"$streak"
    fi
}

too_many_time_outs() {
    [ -n "$streak" ] && [ "$(wc -l <"$streak")" -ge 2 ]
}

while [ "$launch" -lt "$most_launches" ]; do
    launch=$((launch + 1))
    marker="$$-$launch-$(date +%s%N)"
    started_before=$(count started)
    results_before=$(count result)
    finished_before=$(count finished)
    words_before=$(($(count header) + $(words)))
    begin=$(date +%s.%N)
    printf '{"type":"launch_started","launch":%d,"begin_s":%s,"marker":"%s"}\n' \
        "$launch" "$begin" "$marker" >>"$record"

    ONESIDED_LAUNCH=$marker timeout --kill-after="$grace_s" "$timeout_s" "$@"
    status=$?

    end=$(date +%s.%N)
    timed_out=$(awk -v b="$begin" -v e="$end" -v t="$timeout_s" \
        'BEGIN { print (e - b >= t) ? "true" : "false" }')
    [ "$status" -eq 0 ] || end_strays "$marker"
    finished=false
    [ "$(count finished)" -le "$finished_before" ] || finished=true
    begun=$(($(count started) - started_before))
    if [ "$(count result)" -gt "$results_before" ]; then
        fruitless=0
    elif [ "$begun" -gt 0 ]; then
        [ "$fruitless" -gt 0 ] || fruitless_since=$begin
        fruitless=$((fruitless + 1))
    fi
    given_up=$(awk -v n="$fruitless" -v m="$most_fruitless" -v b="$fruitless_since" -v e="$end" \
        -v t="$most_fruitless_s" 'BEGIN { print (n >= m && e - b >= t) ? "true" : "false" }')
    printf '{"type":"launch_ended","launch":%d,"begin_s":%s,"end_s":%s,"exit_status":%d,"timed_out":%s,"finished":%s,"given_up":%s,"cells_begun":%d}\n' \
        "$launch" "$begin" "$end" "$status" "$timed_out" "$finished" "$given_up" "$begun" \
        >>"$record"
    note_time_out "$timed_out"

    [ "$finished" = false ] || break
    ! every_cell_is_over || break
    [ "$given_up" = false ] || break
    ! too_many_time_outs || break
    if [ "$begun" -eq 0 ]; then
        # no use to go on: it said why, or it is the second time
        [ "$status" -ne 0 ] && [ $(($(count header) + $(words))) -eq "$words_before" ] || break
        [ "$is_second_try" = false ] || break
        is_second_try=true
    fi
done
exit 0
