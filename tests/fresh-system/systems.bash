# tests/fresh-system/systems.bash: fresh systems by debootstrap, for a script that sources it.
#
#   FRESH_DIR     where the systems are made, and left for a look (a new folder below TMPDIR, which
#                 is removed at the end); the next proof in it begins with what debootstrap made
#   FRESH_MIRROR  where Debian's packages come from (what this machine's apt uses)
#   FRESH_UBUNTU  where Ubuntu's packages come from (what debootstrap knows)
#
# A fresh system gets this machine's view of the network and nothing else of it: resolv.conf,
# *_proxy variables, and the certificates that it trusts.
#
# Sets base, the folder of all systems, and debian, the mirror. The functions use suite, the name of
# the system that is being proved, and root, its folder, which make_system sets.

die() { echo "prove: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || die "needs root, for debootstrap and chroot"
command -v debootstrap > /dev/null || die "please install debootstrap"

# shellcheck disable=SC2016  # apt's own $
debian=${FRESH_MIRROR:-$(apt-get indextargets --format '$(SITE)' 2> /dev/null \
    | grep -m 1 '/debian$' || true)}

base=${FRESH_DIR:-$(mktemp -d)}
mkdir -p "$base"
base=$(cd "$base" && pwd -P)
mounted=()
unmount() {
    for ((i = ${#mounted[@]} - 1; i >= 0; --i)); do
        umount "${mounted[i]}" || umount --lazy "${mounted[i]}" || true
    done
    mounted=()
}
# remove FOLDER: never below a mount that stayed: /dev is behind one. `ip netns add`, which a test
# calls, leaves one of its own.
remove() {
    if grep -q " $1/run/netns " /proc/mounts; then umount "$1/run/netns"; fi
    if grep -q " $1/" /proc/mounts; then
        echo "prove: $1 cannot be removed: something is mounted below it" >&2
        return 1
    fi
    rm -rf --one-file-system "$1"
}
finish() { [ -n "${FRESH_DIR-}" ] || remove "$base"; }
trap finish EXIT
trap 'exit 130' INT TERM

say() { printf '%s %s: %s\n' "$(date +%H:%M:%S)" "$suite" "$*"; }

# inside COMMAND...: runs a command in the fresh system, with a clean environment and its network.
inside() {
    local settings=(HOME=/srv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
        LANG=C.UTF-8 TERM="${TERM:-dumb}")
    local name
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
        [ -z "${!name-}" ] || settings+=("$name=${!name}")
    done
    if [ -e "$root/etc/ssl/host-trust.crt" ]; then
        settings+=(CARGO_HTTP_CAINFO=/etc/ssl/host-trust.crt PIP_CERT=/etc/ssl/host-trust.crt
            SSL_CERT_FILE=/etc/ssl/host-trust.crt)  # the last is for go
    fi
    chroot "$root" env -i "${settings[@]}" "$@"
}

# logged NAME COMMAND...: shows the end of what a command said only where it fails.
logged() {
    local log=$base/$suite-$1.log
    shift
    "$@" > "$log" 2>&1 < /dev/null || { tail -n 40 "$log"; say "all of it is in $log"; return 1; }
}

mount_into() {
    mount "$@"
    mounted+=("${!#}")
}

# fetch_ubuntu_keys: where this machine has none, the keys that Ubuntu signs with are taken from a
# package that Debian signs. Debian 12 does not have it, 13 does.
ubuntu_keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
fetch_ubuntu_keys() {
    [ ! -e "$ubuntu_keys" ] || return 0
    local found=$base/ubuntu-archive-keyring.gpg root=$base/trixie-for-keys
    if [ ! -e "$found" ]; then
        make_base trixie
        unpack trixie "$root"
        logged keys inside sh -c 'cd /srv && apt-get update -q && apt-get download ubuntu-keyring \
            && dpkg-deb --extract ubuntu-keyring_*.deb .'
        cp "$root/srv/$ubuntu_keys" "$found"
        remove "$root"
    fi
    ubuntu_keys=$found
}

# make_base SUITE: $base/SUITE.tar is the suite's smallest system with apt.
make_base() {
    local at=$base/$1.tar folder=$base/$1-base
    [ ! -e "$at" ] || return 0
    remove "$folder"
    local words=(--variant=minbase --force-check-gpg)
    case $1 in
        # Ubuntu keeps most of what is needed in universe. One script does for all of Ubuntu; an
        # older debootstrap does not know that of noble.
        noble)
            fetch_ubuntu_keys
            words+=("--components=main,universe" --keyring="$ubuntu_keys"
                "$1" "$folder" "${FRESH_UBUNTU-}" gutsy)
            ;;
        *) words+=("$1" "$folder" "$debian") ;;
    esac
    say "debootstrap of $1"
    logged debootstrap debootstrap "${words[@]}"
    tar -C "$folder" --one-file-system -cf "$at.part" .
    mv "$at.part" "$at"
    remove "$folder"
}

# unpack SUITE FOLDER: a system that nobody has used, with this machine's view of the network.
unpack() {
    remove "$2"
    mkdir -p "$2"
    tar -C "$2" -xpf "$base/$1.tar"
    cp -L --remove-destination /etc/resolv.conf "$2/etc/resolv.conf"
    # Every installer writes it; debootstrap leaves that to whoever calls it.
    [ -e "$2/etc/hosts" ] \
        || printf '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n' > "$2/etc/hosts"
    mkdir -p "$2/etc/ssl"
    [ ! -e /etc/ssl/certs/ca-certificates.crt ] \
        || cp -L /etc/ssl/certs/ca-certificates.crt "$2/etc/ssl/host-trust.crt"
}

make_system() {
    root=$base/$suite
    make_base "$suite"
    unpack "$suite" "$root"
    mount_into -t proc proc "$root/proc"
    mount_into -t sysfs -o ro sysfs "$root/sys"
    mount_into --bind /dev "$root/dev"
    # Terminals: a bind takes no mount along that lies below.
    [ ! -e /dev/pts/ptmx ] || mount_into --bind /dev/pts "$root/dev/pts"
}
