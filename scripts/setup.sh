# Shared by ./demo and ./check (POSIX sh): what must be installed, and the build directory.

say() { printf '%s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# Whether a package, or what is needed of it, is there already.
have() {
  case $1 in
    g++) command -v g++ >/dev/null ;;
    clang) command -v clang++ >/dev/null ;;
    ninja-build) command -v ninja >/dev/null ;;
    pkg-config) command -v pkg-config >/dev/null ;;
    cmake) cmake_is_new_enough ;;
    libclang-rt-*) [ -d "$(clang++ --print-runtime-dir)" ] ;;
    *) [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
  esac
}

# 3.25 or newer, wherever it comes from.
cmake_is_new_enough() {
  command -v cmake >/dev/null || return 1
  version=$(cmake --version | sed -n 's/^cmake version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
  [ -n "$version" ] || return 1
  set -- $version
  [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 25 ]; }
}

# install_missing PACKAGE...: no call of apt when nothing is missing.
install_missing() {
  missing=
  for package in "$@"; do
    have "$package" || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  command -v apt-get >/dev/null || die "Please install (names of Debian's packages):$missing"
  install="apt-get install -y --no-install-recommends$missing"
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "Not root and no sudo here. As root, type:
  apt-get update && $install"
    as_root=sudo
  fi
  say "Installing with apt-get:$missing"
  run_apt
}

# With the package lists that are there; with fresh ones when that fails or there are none.
run_apt() {
  lists_known=yes
  for package in $missing; do
    apt-cache show "$package" >/dev/null 2>&1 || lists_known=no
  done
  if [ $lists_known = yes ] && apt_get install -y --no-install-recommends $missing; then
    return 0
  fi
  say "Refreshing the package lists with apt-get update"
  apt_get update && apt_get install -y --no-install-recommends $missing ||
    die "apt-get could not install:$missing"
}

# sudo clears the environment, so the variable is set behind it.
apt_get() {
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null
}

# configure OPTION...: into build/, which must be ours: a build made by root cannot be rebuilt by
# a user, and root must not leave files in a user's.
configure() {
  if [ -e build ] && [ ! -O build ]; then
    die "build/ belongs to another user. Remove it, or run this as its owner."
  fi
  say "Configuring build/ with Ninja"
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release "$@"
}

needed="g++ cmake ninja-build libfmt-dev libcli11-dev libtomlplusplus-dev libhwloc-dev pkg-config
  doctest-dev"

# The sanitizers of the clang that is installed: a package of their own, named after its version.
clang_runtime() {
  say "libclang-rt-$(clang++ -dumpversion | cut -d. -f1)-dev"
}
