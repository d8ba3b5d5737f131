#!/bin/sh
# The first stage of an MPI's image: the MPI, its kernels and the image's document.
#
#   build.sh IMAGE ENVIRONMENT...
set -eu
. /opt/onesided-build/common.sh

with_pip_settings /opt/onesided/.venv/bin/python -m onesided.environments.inside bake "$@"
compile_python /opt/onesided/src
compile_python /opt/onesided/reframe_checks
take_to_image
