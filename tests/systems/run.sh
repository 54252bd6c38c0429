#!/usr/bin/env bash
# Makes a root folder of a Debian suite, clones this repository into it, and runs there what a newcomer runs:
# `./dev run --once` and `./dev test`. See README.md.
#
#   run.sh bookworm|trixie [--compiler g++-11] [--asio SUITE] [--folder DIR] [--cache DIR] [--only-run]
#
# --compiler  what compiles, instead of the suite's g++; the package of that name is installed
# --asio      with the asio of another suite, which is headers only
# --folder    where the root folder is made, and stays; one that is already there is used as it is
# --cache     a folder of ccache's, kept from one run to the next
# --only-run  leave out `./dev test`
set -euo pipefail
repository=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd)

fail() {
  printf 'run.sh: %s\n' "$*" >&2
  exit 1
}

suite=${1:-}
[[ $suite == bookworm || $suite == trixie ]] || fail "which suite: bookworm or trixie?"
shift
compiler= asio_suite= folder= cache= only_run=
while (($#)); do
  case $1 in
    --only-run) only_run=yes; shift; continue ;;
    --compiler | --asio | --folder | --cache) (($# > 1)) || fail "$1: what?" ;;
    *) fail "unknown option $1" ;;
  esac
  case $1 in
    --compiler) compiler=$2 ;;
    --asio) asio_suite=$2 ;;
    --folder) folder=$2 ;;
    --cache) mkdir -p -- "$2" && cache=$(realpath -- "$2") ;;
  esac
  shift 2
done
((EUID == 0)) || fail "mmdebstrap, mount and chroot take root"
command -v mmdebstrap >/dev/null || fail "missing: apt-get install mmdebstrap"

# --- the root folder ------------------------------------------------------------------------------------------------

# Where this machine has Debian from. `apt-get update` must have been run.
mirror() {
  apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
    awk -v release="$(. /etc/os-release && echo "$VERSION_CODENAME")" '$2 == release && $3 == "main" { print $1; exit }'
}

make_root() {
  local from
  from=$(mirror)
  [[ -n $from ]] || fail "this machine's own suite is not among what apt knows; run apt-get update"
  mkdir -p -- "$root"
  # As small as a container's image, so that ./dev has to install what it needs; git brings the clone.
  mmdebstrap --quiet --mode=root --variant=minbase --include=ca-certificates,git "$suite" "$root" "$from"
}

# How this machine reaches package registries: names, certificates, settings of apt and npm.
hand_on_the_network() {
  cp -L /etc/hosts /etc/resolv.conf "$root/etc/"
  local file
  for file in /etc/apt/apt.conf.d/*; do
    dpkg -S "$file" >/dev/null 2>&1 || cp -- "$file" "$root/etc/apt/apt.conf.d/"
  done
  for file in /etc/npmrc /usr/etc/npmrc; do
    [[ ! -e $file ]] || install -D -m 644 "$file" "$root$file"
  done
  [[ ! -e ~/.npmrc ]] || install -m 600 ~/.npmrc "$root/root/.npmrc"
  if compgen -G '/usr/local/share/ca-certificates/*.crt' >/dev/null; then
    cp -- /usr/local/share/ca-certificates/*.crt "$root/usr/local/share/ca-certificates/"
  fi
  inside update-ca-certificates >/dev/null
}

# inside COMMAND...: in the root folder, with processes and mounts of its own, which end with the command or this script.
inside() {
  root=$root cache=$cache setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child bash -euc '
    mount --make-rprivate /
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --rbind /sys "$root/sys"
    if [[ -n $cache ]]; then
      mkdir -p "$root/var/cache/ccache"
      mount --bind "$cache" "$root/var/cache/ccache"
    fi
    exec chroot "$root" env -u CMAKE_CXX_COMPILER_LAUNCHER -u CMAKE_C_COMPILER_LAUNCHER HOME=/root TMPDIR=/tmp \
      PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin CCACHE_DIR=/var/cache/ccache "$@"' bash "$@"
}

install_inside() { inside env DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@"; }

root=${folder:-$(mktemp -d "${TMPDIR:-/var/tmp}/rkllm-mcp-$suite.XXXXXX")}
[[ -n $folder ]] || trap 'rm -rf --one-file-system -- "$root"' EXIT
[[ -e $root/etc/os-release ]] || make_root
root=$(realpath -- "$root")
hand_on_the_network
inside apt-get -q update

wanted=()
[[ -z $cache ]] || wanted+=(ccache)
[[ -z $compiler ]] || wanted+=("$compiler")
((${#wanted[@]} == 0)) || install_inside "${wanted[@]}"

if [[ -n $asio_suite ]]; then
  rm -rf -- "$root/var/tmp/asio"
  mkdir -p -- "$root/var/tmp/asio"
  sed "s/\\b$suite\\b/$asio_suite/g" -- "$root/etc/apt/sources.list" >"$root/etc/apt/sources.list.d/asio.list"
  inside apt-get -q update
  inside bash -c "cd /var/tmp/asio && apt-get -q download libasio-dev/$asio_suite"
  rm -- "$root/etc/apt/sources.list.d/asio.list"
  inside apt-get -q update
  inside bash -c 'dpkg --force-depends -i /var/tmp/asio/*.deb && apt-mark hold libasio-dev'
fi

# --- what a newcomer runs -------------------------------------------------------------------------------------------

rm -rf -- "$root/root/rkllm-mcp"
git clone --quiet --no-hardlinks -- "$repository" "$root/root/rkllm-mcp"

newcomer() { inside ${compiler:+env CXX="$compiler"} bash -c 'cd /root/rkllm-mcp && "$@" </dev/null' bash "$@"; }

newcomer ./dev run --once
[[ -n $only_run ]] || newcomer ./dev test
