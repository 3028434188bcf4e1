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

. "$repository/scripts/root.sh"

base=${1:-$(mktemp -d)}
root=$base/root
[ ! -e "$root" ] || die "$root exists; give another directory."
mkdir -p "$base"
[ $keep = yes ] || trap 'rm -rf "$root"' EXIT

# step NAME COMMAND: runs in the root, shows the output, keeps it in log.
log=$base/log
step() {
  say "$1"
  begin=$(date +%s)
  rm -f "$base/passed"
  { inside "$root" 0:0 "$2" 2>&1 && touch "$base/passed"; } | tee "$log"
  [ -e "$base/passed" ] || die "FAILED: $1"
  say "$1: $(($(date +%s) - begin)) s"
}

expect() {
  grep -q "$1" "$log" || die "FAILED: no line with \"$1\" in the last step"
}
expect_not() {
  ! grep -q "$1" "$log" || die "FAILED: a line with \"$1\" in the last step"
}

make_root "$root" "$base/debootstrap.log"
git clone -q --no-hardlinks "$repository" "$root/src"

say "A user without sudo gets the command to type"
if inside "$root" 65534:65534 ./demo >"$log" 2>&1; then
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
if inside "$root" 65534:65534 ./demo >"$log" 2>&1; then
  die "FAILED: ./demo used a build directory of another user"
fi
expect "build/ belongs to another user"
say "All passed"
