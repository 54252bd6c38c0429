#!/bin/sh
# read_completions.sh SHELL PROGRAM: what PROGRAM writes for SHELL is something that SHELL understands.
set -eu
place=$(mktemp)
trap 'rm -f "$place"' EXIT
"$2" completion "$1" >"$place"
[ -s "$place" ]
case $1 in fish) no_run=--no-execute ;; *) no_run=-n ;; esac
said=$("$1" "$no_run" "$place" 2>&1) || { echo "$said"; exit 1; }
if [ -n "$said" ]; then echo "$said"; exit 1; fi  # zsh complains and goes on
