# For the scripts here to read with `.`
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
# the order of sets decides how Python's compiler writes its files
export PYTHONHASHSEED=0

install_packages() {
    apt-get update -qq
    # the packages' own scripts write what nobody reads
    apt-get install -y -qq --no-install-recommends "$@" >/opt/onesided-build/apt.log 2>&1 || {
        cat /opt/onesided-build/apt.log >&2
        return 1
    }
}

# Run a command with the settings that pip has on the machine that builds; none stays in the image.
with_pip_settings() {
    PIP_CONFIG_FILE=/opt/onesided-build/pip.conf PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1 "$@"
}

# Files that hold no time of their source: two builds of the same commit are the same.
compile_python() {
    find "$1" -name __pycache__ -type d -prune -exec rm -rf {} +
    /usr/bin/python3 -m compileall -q -j 1 --invalidation-mode unchecked-hash "$1" >/dev/null || true
}

# The Python side is in the base; the rest of what a first stage made goes to the second.
take_to_image() {
    mkdir /opt/image
    find /opt/onesided -mindepth 1 -maxdepth 1 ! -name .venv -exec mv {} /opt/image/ \;
}

# Remove what differs from build to build, and what nobody needs in an image. /tmp is the host's.
clean_up() {
    apt-get clean
    rm -rf /var/lib/apt/lists/* /var/cache/apt /var/cache/debconf/*-old /var/cache/ldconfig \
        /var/lib/dpkg/*-old /var/log/* /usr/share/man /usr/share/info \
        /usr/share/locale /opt/onesided-build
    rm -f /etc/machine-id /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- /etc/.pwd.lock
    # the packages' licences stay
    find /usr/share/doc -type f ! -name copyright -delete
    find /usr/share/doc -type d -empty -delete
    mkdir -p /var/cache/apt/archives/partial
}
