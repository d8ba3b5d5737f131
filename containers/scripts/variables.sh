# For run.sh and app.sh: everything that is written goes below the folder the image was called in.
export ONESIDED_RESULTS="${ONESIDED_RESULTS:-$PWD/results}"
export ONESIDED_BUILD="${ONESIDED_BUILD:-$ONESIDED_RESULTS/.build}"
