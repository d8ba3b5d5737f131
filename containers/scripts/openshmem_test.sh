#!/bin/sh
# Two processing elements, and numbers that the kernel verified: the last line says so, or the library
# died in its own teardown after that (`teardown`), which is not the kernel's.
set -u
lines=$(mktemp)
oshrun -n 2 --map-by :OVERSUBSCRIBE /opt/onesided/kernels/bin/openshmem_counter --output "$lines"
status=$?
tail -n 1 "$lines" | grep -Eq '"type":"(finished|teardown)"' ||
    { echo "openshmem_counter exited $status without a last line" >&2; exit 1; }
grep -q '"ranks":2' "$lines" || { echo "expected a world of 2" >&2; exit 1; }
! grep -q '"status":"wrong_data"' "$lines" || { echo "wrong data" >&2; exit 1; }
echo "openshmem: 2 processing elements, all numbers right"
