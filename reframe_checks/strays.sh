# For the launch scripts to read with `.`: what a launcher may leave behind.

# End the ranks that outlived their launcher; they carry its marker, $1, in their environment.
end_strays() {
    for environment in $(grep -lzx "ONESIDED_LAUNCH=$1" /proc/[0-9]*/environ 2>/dev/null); do
        process=${environment#/proc/}
        kill -KILL "${process%/environ}" 2>/dev/null
    done
}
