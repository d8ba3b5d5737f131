#!/bin/sh
# What base.def does in the image: Debian's packages, and the Python side without its tools for tests.
set -eu
. /opt/onesided-build/common.sh

install_packages python3 python3-venv ca-certificates
with_pip_settings python3 /opt/onesided/tools/setup.py --runtime
# a file written here once is not compiled again at every start, from an image nobody can write to
compile_python /opt/onesided/.venv
compile_python /usr/lib/python3
rm -rf /opt/onesided/build
clean_up
