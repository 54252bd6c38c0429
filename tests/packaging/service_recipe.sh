#!/usr/bin/env bash
# What packaging/systemd/rkllm-mcp.service says to do, done as far as that goes without systemd: the settings are written
# by root as its recipe has it, in another folder; then its command runs as a user of its own, without capabilities.
#
#   service_recipe.sh SOURCE PROGRAM SIMULATOR_LIBRARY
#
# Exit code 77: this machine cannot do that; the reason is printed.
set -euo pipefail
source=$1 program=$2 library=$3
unit=$source/packaging/systemd/rkllm-mcp.service
user=61184 # nobody's; what DynamicUser= would take

skip() {
  echo "NOT RUN: $1"
  exit 77
}
((EUID == 0)) || skip "only root may become another user"
command -v setpriv >/dev/null || skip "setpriv (util-linux) is not installed"
command -v python3 >/dev/null || skip "python3 is not installed"

place=$(mktemp -d)
server=
end() {
  if [[ -n $server ]]; then kill -KILL "$server" 2>/dev/null || true; fi
  rm -rf -- "$place"
}
trap end EXIT
chmod 0755 "$place"
mkdir -p "$place/bin" "$place/lib" "$place/state"
cp -- "$program" "$place/bin/rkllm-mcp"
cp -- "$library" "$place/lib/librkllm_sim.so"
chown "$user:$user" "$place/state"

# The commands of the recipe that are about the settings, for this folder and this user.
recipe=$(sed -n 's/^#   \(install\|rkllm-mcp\|chgrp\|chmod\) /\1 /p' "$unit" |
  sed "s#/etc/rkllm-mcp#$place/etc#g; s#chgrp rkllm-mcp#chgrp $user#")
(($(wc -l <<<"$recipe") == 4)) || { echo "the recipe has changed: $recipe"; exit 1; }
(umask 077 && PATH=$place/bin:$PATH bash -euxc "$recipe")
[[ $(stat -c '%u %g %a' "$place/etc/settings.json") == "0 $user 640" ]] || { ls -l "$place/etc"; exit 1; }

command_line=$(sed -n "s#^ExecStart=rkllm-mcp#$place/bin/rkllm-mcp#p" "$unit" | sed "s#/etc/rkllm-mcp#$place/etc#")
free_ports="--set tcp.port=0 --set udp.port=0 --set http.port=0 --set ws.port=0"
cd -- "$place/state"
umask 077
mkfifo "$place/said"
# shellcheck disable=SC2086
# shellcheck disable=SC2016
python3 "$source/tests/support/until_ready.py" 30 bash -c 'exec env -i HOME="$0" NOTIFY_SOCKET="$NOTIFY_SOCKET" "$@"' \
  "$place/state" setpriv --reuid "$user" --regid "$user" --clear-groups --inh-caps=-all --bounding-set=-all \
  --no-new-privs $command_line --simulator $free_ports --ports-file "$place/state/ports.json" \
  </dev/null >"$place/said" 2>"$place/log" &
server=$!
read -r <"$place/said" && [[ -s $place/state/ports.json ]] || { cat "$place/log"; exit 1; }
if "$place/bin/rkllm-mcp" settings check "$place/etc/settings.json" && kill -TERM "$server" && wait "$server"; then
  server=
else
  cat "$place/log"
  exit 1
fi

command -v systemd-analyze >/dev/null || { echo "systemd-analyze is not installed: the units were not verified"; exit 0; }
sed "s#^ExecStart=rkllm-mcp#ExecStart=$place/bin/rkllm-mcp#" "$unit" >"$place/rkllm-mcp.service"
cp -- "$source/packaging/systemd/rkllm-mcp.socket" "$place"
systemd-analyze verify "$place/rkllm-mcp.service" "$place/rkllm-mcp.socket" 2>&1 | tee "$place/complaints"
[[ ! -s $place/complaints ]]
