#!/bin/sh
# Build and install the kernels with one library's compiler, once: a finished prefix is left as it is.
#
#   build_kernels.sh SOURCE PREFIX COMPILER [MPI|OpenSHMEM]
#
# PREFIX appears under its name only when it is whole; two builds at once wait for each other.
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

[ ! -d "$prefix" ] || exit 0
mkdir -p "$(dirname "$prefix")"
exec 9>"$prefix.lock"
! command -v flock >/dev/null || flock 9
[ ! -d "$prefix" ] || exit 0

work=$prefix.work partial=$prefix.partial
rm -rf "$work" "$partial"
if "$compiler" -show 2>/dev/null | grep -q "'"; then
    # CMake knows double quotes only. Of the single ones that Intel MPI 2021.1 shows it makes folders
    # that are not there, and then takes another MPI of this machine without a word.
    mkdir "$work"
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
cmake --build "$work"
cmake --install "$work"
rm -rf "$work"
mv "$partial" "$prefix"
