#!/bin/sh
# Proves ./demo and ./check on a system that has nothing: a minimal Debian 12 in a directory, a
# fresh clone of the committed tree in it, both scripts twice. Needs root and debootstrap; mirror
# and apt's settings are this machine's own.
#
#   scripts/fresh_root.sh [--keep] [DIRECTORY]
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
keep=no
if [ "${1-}" = --keep ]; then
  keep=yes
  shift
fi

say() { printf '\n=== %s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

[ "$(id -u)" -eq 0 ] || die "This needs root (chroot)."
command -v debootstrap >/dev/null || die "This needs debootstrap: apt-get install debootstrap"
base=${1:-$(mktemp -d)}
root=$base/root
[ ! -e "$root" ] || die "$root exists; give another directory."
mkdir -p "$base"
[ $keep = yes ] || trap 'rm -rf "$root"' EXIT

# The first file of apt's that names a mirror -> sources, mirror
find_mirror() {
  for sources in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list \
                 /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list; do
    [ -f "$sources" ] || continue
    mirror=$(sed -n -e 's/^URIs: *\([^ ]*\).*/\1/p' \
                    -e 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' "$sources" | head -n 1)
    [ -z "$mirror" ] || return 0
  done
  die "No mirror found in apt's configuration."
}

# Settings that the administrator added (proxies, certificates): files no package owns.
copy_apt_settings() {
  : >"$root/etc/apt/sources.list"
  if [ "$sources" = /etc/apt/sources.list ]; then
    cp "$sources" "$root/etc/apt/"
  else
    cp "$sources" "$root/etc/apt/sources.list.d/"
  fi
  for file in /etc/apt/apt.conf.d/*; do
    dpkg-query -S "$file" >/dev/null 2>&1 || cp "$file" "$root/etc/apt/apt.conf.d/"
  done
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}

# inside USER COMMAND: a login-like environment. /proc is there as on any running system.
inside() {
  user=$1
  shift
  unshare --mount sh -c '
    root=$1; user=$2; shift 2
    mount -t proc proc "$root/proc" 2>/dev/null || true
    mount --rbind /sys "$root/sys" 2>/dev/null || true
    exec chroot --userspec="$user" "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      sh -c "cd /src && $*"' sh "$root" "$user" "$@"
}

# step NAME COMMAND: runs in the root, shows the output, keeps it in log.
log=$base/log
step() {
  say "$1"
  begin=$(date +%s)
  rm -f "$base/passed"
  { inside 0:0 "$2" 2>&1 && touch "$base/passed"; } | tee "$log"
  [ -e "$base/passed" ] || die "FAILED: $1"
  say "$1: $(($(date +%s) - begin)) s"
}

expect() {
  grep -q "$1" "$log" || die "FAILED: no line with \"$1\" in the last step"
}
expect_not() {
  ! grep -q "$1" "$log" || die "FAILED: a line with \"$1\" in the last step"
}

find_mirror
say "Minimal Debian 12 from $sources"
include=
case $mirror in https:*) include=--include=ca-certificates ;; esac
debootstrap --variant=minbase $include bookworm "$root" "$mirror" >"$base/debootstrap.log" ||
  { tail -n 20 "$base/debootstrap.log"; die "debootstrap failed"; }
copy_apt_settings
git clone -q --no-hardlinks "$repository" "$root/src"

say "A user without sudo gets the command to type"
if inside 65534:65534 ./demo >"$log" 2>&1; then
  die "FAILED: ./demo went on without the right to install"
fi
cat "$log"
expect "As root, type:"

step "./demo" ./demo
expect "Installing with apt-get: g++"
expect verified
step "./demo again" ./demo
expect "ninja: no work to do"
expect_not "Installing with apt-get"
step "./check" ./check
expect "100% tests passed"
step "./check again" ./check
expect "ninja: no work to do"
expect_not "Installing with apt-get"
expect "100% tests passed"

say "A user who is not the owner of build/ is told so"
if inside 65534:65534 ./demo >"$log" 2>&1; then
  die "FAILED: ./demo used a build directory of another user"
fi
expect "build/ belongs to another user"
say "All passed"
