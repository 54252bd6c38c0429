#!/bin/bash
# Runs the conformance suite against a server of its own, and fails unless everything passes, warnings included.
#
#   run.sh PROGRAM WORKPLACE [RUN...]
#
# PROGRAM is mcp_conformance_server or rkllm-mcp. WORKPLACE is the directory that the test "npm: install" has prepared; results
# go into it. Without any RUN: all of that program. What a run has to pass stands in expected.json.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$(realpath "$1")
workplace=$(realpath -m "$2")
shift 2

patience=60 # seconds; far above what anything here takes, sanitizers included
server=

say_why_and_stop() {
  echo "$1" >&2
  [ ! -s "$place/server.log" ] || tail -n 20 "$place/server.log" >&2
  exit 1
}

# --- the server under test ------------------------------------------------------------------------------------------

start_fixtures() {
  mkfifo "$place/said"
  "$program" 0 > "$place/said" 2> "$place/server.log" &
  server=$!
  read -r -t $patience _ port < "$place/said" || say_why_and_stop "mcp_conformance_server did not start"
}

start_product() {
  local ports=$place/ports.json
  mkfifo "$place/said"
  python3 "$here/../support/until_ready.py" $patience \
    "$program" serve --library "$(dirname "$program")/../lib/librkllm_sim.so" --settings "$place/settings.json" \
    --ports-file "$ports" --set "runtime.cache_dir=$place" --set http.port=0 --set tcp.enabled=false \
    --set udp.enabled=false --set ws.enabled=false > "$place/said" 2> "$place/server.log" &
  server=$!
  read -r < "$place/said" || say_why_and_stop "rkllm-mcp did not start"
  port=$("$node" -p 'JSON.parse(fs.readFileSync(process.argv[1])).http.port' "$ports")
}

start_server() {
  case $(basename "$program") in
    rkllm-mcp) start_product ;;
    *) start_fixtures ;;
  esac
}

# It must still be alive, and must end well.
stop_server() {
  local ended=0
  kill -TERM $server || ended=$?
  wait $server || ended=$?
  server=
  [ $ended -eq 0 ] || say_why_and_stop "the server ended with $ended"
}

# Only after a failure is anything still running.
trap '[ -z "$server" ] || kill -KILL "$server" 2> /dev/null || true' EXIT

# --- the suite ------------------------------------------------------------------------------------------------------

# Arguments of the suite for a run; the package is that of the newest version, or of the one that `npx` gets.
choose() {
  package=@modelcontextprotocol/conformance
  case $1 in
    2026-07-28 | 2025-11-25) arguments=(--requirements "$1") ;;
    product-*) arguments=(--requirements "${1#product-}") ;;
    all) arguments=(--suite all) ;;
    all-*) arguments=(--suite all --spec-version "${1#all-}") ;;
    0.1) package=conformance-0-1 arguments=(--suite all) ;;
    *) echo "there is no run $1" >&2; exit 2 ;;
  esac
}

node=$workplace/node
[ -x "$node" ] || {
  echo "there are no packages in $workplace: ctest --test-dir BUILD -R 'npm: install' makes BUILD/tests/npm/workplace" >&2
  exit 2
}

run() {
  choose "$1"
  place=$workplace/conformance/$1
  rm -rf "$place"
  mkdir -p "$place"
  start_server
  local code=0
  (cd "$place" && "$node" "$workplace/node_modules/$package/dist/index.js" server --url "http://localhost:$port/mcp" \
    "${arguments[@]}" -o results > suite.log 2>&1) || code=$?
  stop_server
  "$node" "$here/report.mjs" "$1" "$place/results" $code || { echo "see $place" >&2; return 1; }
}

if [ $# -eq 0 ]; then
  case $(basename "$program") in
    rkllm-mcp) set -- product-2026-07-28 product-2025-11-25 ;;
    *) set -- 2026-07-28 2025-11-25 all all-2025-06-18 all-2025-03-26 0.1 ;;
  esac
fi
failed=0
for each in "$@"; do run "$each" || failed=1; done
exit $failed
