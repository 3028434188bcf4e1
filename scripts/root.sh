# Shared by the scripts that prove things in a minimal Debian 12 (POSIX sh). Mirror and apt's settings
# are this machine's own.

say() { printf '\n=== %s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

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

# copy_apt_settings ROOT: those that the administrator added (proxies, certificates), files that no
# package owns.
copy_apt_settings() {
  : >"$1/etc/apt/sources.list"
  if [ "$sources" = /etc/apt/sources.list ]; then
    cp "$sources" "$1/etc/apt/"
  else
    cp "$sources" "$1/etc/apt/sources.list.d/"
  fi
  for file in /etc/apt/apt.conf.d/*; do
    dpkg-query -S "$file" >/dev/null 2>&1 || cp "$file" "$1/etc/apt/apt.conf.d/"
  done
  cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
}

# make_root DIRECTORY LOG
make_root() {
  [ "$(id -u)" -eq 0 ] || die "This needs root (chroot)."
  command -v debootstrap >/dev/null || die "This needs debootstrap: apt-get install debootstrap"
  find_mirror
  say "Minimal Debian 12 from $sources"
  include=
  case $mirror in https:*) include=--include=ca-certificates ;; esac
  debootstrap --variant=minbase $include bookworm "$1" "$mirror" >"$2" ||
    { tail -n 20 "$2"; die "debootstrap failed"; }
  copy_apt_settings "$1"
}

# inside ROOT USER COMMAND: in its directory /src, in a login-like environment. /proc is there as on
# any running system.
inside() {
  root=$1
  user=$2
  shift 2
  unshare --mount sh -c '
    root=$1; user=$2; shift 2
    mount -t proc proc "$root/proc" 2>/dev/null || true
    mount --rbind /sys "$root/sys" 2>/dev/null || true
    exec chroot --userspec="$user" "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      sh -c "cd /src && $*"' sh "$root" "$user" "$@"
}
