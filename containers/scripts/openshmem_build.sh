#!/bin/sh
# The first stage of the image with OpenSHMEM: its kernel, by Debian's Open MPI.
set -eu
. /opt/onesided-build/common.sh

install_packages openmpi-bin libopenmpi-dev
cmake -S /opt/onesided/src/kernels -B /opt/onesided-build/kernels -G Ninja -DONESIDED_OPENSHMEM=ON \
    -DMPI_C_COMPILER=/usr/bin/mpicc.openmpi -DCMAKE_INSTALL_PREFIX=/opt/onesided/kernels
cmake --build /opt/onesided-build/kernels
cmake --install /opt/onesided-build/kernels
take_to_image
