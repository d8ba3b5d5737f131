#!/bin/sh
# The second stage of the image with OpenSHMEM: the library that the kernel runs with.
set -eu
. /opt/onesided-build/common.sh

install_packages openmpi-bin
clean_up
