#!/bin/sh
# The first stage of the image with OpenSHMEM: Debian's Open MPI, its kernels and the image's document.
set -eu
. /opt/onesided-build/common.sh

install_packages openmpi-bin libopenmpi-dev
exec sh /opt/onesided-build/build.sh openshmem openshmem-debian
