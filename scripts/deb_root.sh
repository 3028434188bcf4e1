#!/bin/sh
# Installs the package made by cpack -G DEB in a minimal Debian 12, builds a project with it there
# without a network, and removes it again. Needs root and debootstrap.
#
#   scripts/deb_root.sh PACKAGE.deb [DIRECTORY]
set -eu
repository=$(cd "$(dirname "$0")/.." && pwd)
. "$repository/scripts/root.sh"

package=$1
base=${2:-$(mktemp -d)}
[ ! -e "$base/root" ] || die "$base/root exists; give another directory."
mkdir -p "$base"
trap 'rm -rf "$base/root"' EXIT

make_root "$base/root" "$base/debootstrap.log"
cp "$package" "$base/root/morello.deb"
cp -R "$repository/tests/cmake/consumer" "$base/root/src"
say "Installing $package"
inside "$base/root" 0:0 'apt-get -q update && DEBIAN_FRONTEND=noninteractive \
  apt-get -q install -y --no-install-recommends /morello.deb g++ cmake ninja-build' \
  >"$base/apt.log" 2>&1 || { tail -n 20 "$base/apt.log"; die "apt-get failed"; }
say "Building a project, without a network"
inside "$base/root" 0:0 'dpkg --verify morello && unshare --net sh -e -c "
  morello --version
  cmake -G Ninja -S . -B build
  cmake --build build
  build/app/app"'
say "Removing the package"
inside "$base/root" 0:0 'apt-get -q purge -y morello && ! command -v morello &&
  ! find / -xdev -path /src -prune -o -iname "*morello*" -not -name morello.deb \
    -not -path "/proc/*" -not -path "/var/*" -print | grep .'
say "All passed"
