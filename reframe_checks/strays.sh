# For the launch scripts to read with `.`: what a launcher may leave behind.

# End the ranks that outlived their launcher; they carry its marker, $1, in their environment. While
# a process begins to execute a program, the system shows no environment of it for a moment. So two
# looks in a row must find no rank.
end_strays() {
    looks=0 without=0
    while [ "$without" -lt 2 ] && [ "$looks" -lt 50 ]; do
        [ "$looks" -eq 0 ] || sleep 0.1
        looks=$((looks + 1)) without=$((without + 1))
        for environment in $(grep -lzx "ONESIDED_LAUNCH=$1" /proc/[0-9]*/environ 2>/dev/null); do
            process=${environment#/proc/} without=0
            kill -KILL "${process%/environ}" 2>/dev/null
        done
    done
}
