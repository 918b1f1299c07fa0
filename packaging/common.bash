# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the scripts beside it have in common; read by them, not run.

PROGRAM=packaging/${0##*/}
TREE=$(cd "$(dirname "$0")/.." && pwd)

die() {
        printf '%s: %s\n' "$PROGRAM" "$*" >&2
        exit 1
}

say() {
        printf '== %s\n' "$*"
}

# The comment at the head of the script.
help() {
        sed -n '4,/^$/s/^# \{0,1\}//p' "$0"
        exit 0
}

# Sets $output and $tarball.
parse_options() {
        output=$TREE/build-packages tarball=''
        while [[ $# -gt 0 ]]; do
                case $1 in
                        --output=*) output=${1#*=} ;;
                        --tarball=*) tarball=$(realpath "${1#*=}") ;;
                        --help | -h) help ;;
                        *) die "Unknown argument $1 (see --help)." ;;
                esac
                shift
        done
        mkdir -p "$output"
        output=$(realpath "$output")
        scratch=$(mktemp -d)
        trap 'rm -rf "$scratch"' EXIT
}

# The tarball of what is committed, unless one is given. Sets $tarball and $version.
need_tarball() {
        if [[ ! $tarball ]]; then
                "$TREE/packaging/build-tarball" --no-tests --output="$scratch/dist"
                tarball=$(echo "$scratch"/dist/mcp-systemd-*.tar.xz)
        fi
        [[ ${tarball##*/} =~ ^mcp-systemd-(.+)\.tar\.xz$ ]] || die "$tarball is not named mcp-systemd-VERSION.tar.xz."
        version=${BASH_REMATCH[1]}
}

# The directory of an extension as an image beside it, the same whenever it is made.
make_image() {
        "$TREE/packaging/install-deps" image
        if [[ $EUID -eq 0 ]]; then
                chown -R root:root "$1"
        fi
        mksquashfs "$1" "$1.raw" -all-root -noappend -no-progress -quiet -mkfs-time 0 -all-time 0 >/dev/null
        say "$1 and $1.raw"
}
