#!/bin/sh
# What toolchain.def does in the image.
set -eu
. /opt/onesided-build/common.sh

install_packages gcc libc6-dev cmake ninja-build patchelf
clean_up
