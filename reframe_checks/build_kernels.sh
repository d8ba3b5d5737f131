#!/bin/sh
# Build and install kernels with one library's compiler: the named kernels that are missing, or all.
#
#   build_kernels.sh SOURCE PREFIX COMPILER [MPI|OpenSHMEM [KERNEL...]]
#
# PREFIX/bin/KERNEL appears under its name only when it is complete, and then does not change. Two
# builds at once wait for each other. PREFIX.work keeps the compiled files for later kernels.
set -eu
source=$1 prefix=$2 compiler=$3 library=${4:-MPI}
case $library in
MPI) option=MPI_C_COMPILER ;;
OpenSHMEM) option=ONESIDED_OPENSHMEM_COMPILER ;;
*)
    echo "build_kernels.sh: library: found $library; expected MPI or OpenSHMEM" >&2
    exit 2
    ;;
esac
shift 3
[ $# -eq 0 ] || shift

# Succeeds if kernels are named and all of them are there.
are_there() {
    [ $# -gt 0 ] || return 1
    for kernel; do
        [ -e "$prefix/bin/$kernel" ] || return 1
    done
}

! are_there "$@" || exit 0
mkdir -p "$(dirname "$prefix")"
exec 9>"$prefix.lock"
! command -v flock >/dev/null || flock 9
! are_there "$@" || exit 0

work=$prefix.work partial=$prefix.partial
rm -rf "$partial"
# a folder that was moved, or is another CMake's, is of no use
[ ! -e "$work/CMakeCache.txt" ] || cmake -S "$source" -B "$work" >/dev/null 2>&1 || rm -rf "$work"
if "$compiler" -show 2>/dev/null | grep -q "'"; then
    # CMake knows double quotes only. Of the single ones that Intel MPI 2021.1 shows it makes folders
    # that are not there, and then takes another MPI of this machine without a word.
    mkdir -p "$work"
    cat >"$work/mpicc" <<'END'
#!/bin/sh
shown=$("$ONESIDED_MPICC" "$@") || exit
printf '%s\n' "$shown" | tr "'" '"'
END
    chmod +x "$work/mpicc"
    export ONESIDED_MPICC="$compiler"
    compiler=$work/mpicc
fi
cmake -S "$source" -B "$work" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -D$option="$compiler" -DCMAKE_INSTALL_PREFIX="$partial"
# without names, all
cmake --build "$work" ${1:+--target "$@"}
cmake --install "$work"
mkdir -p "$prefix/bin"
for path in "$partial"/bin/*; do
    [ -e "$prefix/bin/${path##*/}" ] || mv "$path" "$prefix/bin"
done
rm -rf "$partial"
