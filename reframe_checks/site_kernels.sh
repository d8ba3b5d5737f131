#!/bin/sh
# Build the probe, or the kernels, with the compiler of a site's own ReFrame environment.
#
#   site_kernels.sh probe COMPILER
#   site_kernels.sh kernels COMPILER SOURCE PREFIX [KERNEL...]
#
# The working folder has probe.c and identify.c. It gets the program probe, compiler.txt with the
# compiler's path, and identity.txt with the library's text about its version. If a module got another
# MPI under the same name, the kernels are built again. If something fails, reason.txt says why in one
# line. Exit 4: the compiler has no MPI; 3: any other failure.
set -u
export LC_ALL=C
what=$1 compiler=$2
shift 2

failed() { # STATUS TEXT
    printf '%s\n' "$2" >reason.txt
    echo "site_kernels.sh: $2" >&2
    exit "$1"
}

first_fault() { # the line of a compiler's output that says most
    awk '/error|undefined|No such|not found/ { print; found = 1; exit } NR == 1 { first = $0 }
        END { if (!found) print first }' "$1"
}

[ -n "$compiler" ] || failed 3 "no compiler: the environment's cc is empty"
path=$(command -v "$compiler") || failed 3 "no compiler: $compiler is not on PATH"
printf '%s\n' "$path" >compiler.txt
if [ "$what" = probe ]; then
    printf 'int main(void) { return 0; }\n' >works.c
    "$compiler" works.c -o works >works.txt 2>&1 ||
        failed 3 "the compiler $compiler does not work: $(first_fault works.txt)"
    "$compiler" probe.c -o probe -ldl >compile.txt 2>&1 ||
        failed 4 "$compiler compiles no MPI program: $(first_fault compile.txt)"
    # only for an option of srun
    "$compiler" identify.c -o identify -ldl >compile.txt 2>&1 && ./identify >identity.txt 2>/dev/null
    exit 0
fi
source=$1 prefix=$2
shift 2

# the words that the wrapper stands for, and the libraries that it links, with their sizes and times
state=$({
    "$compiler" -show 2>/dev/null
    ldd probe 2>/dev/null | awk '/=> \// { print $3 }' | sort | while read -r library; do
        stat -Lc '%n %s %Y' "$library"
    done
} | cksum)
if [ -e "$prefix.mpi" ] && [ "$(cat "$prefix.mpi")" != "$state" ]; then
    rm -rf "$prefix" "$prefix.work"
fi
mkdir -p "$(dirname "$prefix")"
sh "${0%/*}/build_kernels.sh" "$source" "$prefix" "$path" MPI "$@" >build.txt 2>&1 || {
    cat build.txt
    failed 3 "the kernels do not build: $(first_fault build.txt)"
}
printf '%s\n' "$state" >"$prefix.mpi"
