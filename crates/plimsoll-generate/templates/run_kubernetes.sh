#!/usr/bin/env bash
# Runs where create.sh ran: measures a volume of each StorageClass, as the plan says. One command for each size.
# Written by plimsoll generate.
set -euo pipefail

PLIMSOLL="${PLIMSOLL:-plimsoll}"
IMAGE="${IMAGE:-}" # the image of plimsoll, in a registry that the cluster reaches: docs/kubernetes.md
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
KUBECONFIG_FILE="${KUBECONFIG_FILE:-$here/kubeconfig}"

code=0 # the highest that one of the commands ended with
# What one size ended with says nothing about the next one, but where the command was not understood (2), did not start,
# or was interrupted (126 and above).
measure() {
  local ended=0
  "$PLIMSOLL" kubernetes run --kubeconfig "$KUBECONFIG_FILE" ${IMAGE:+--image "$IMAGE"} \
    --plan "$here/plan-kubernetes.toml" "$@" || ended=$?
  if [ "$ended" -eq 2 ] || [ "$ended" -ge 126 ]; then exit "$ended"; fi
  if [ "$ended" -gt "$code" ]; then code="$ended"; fi
}

