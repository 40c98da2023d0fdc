#!/usr/bin/env bash
# Runs where create.sh ran: measures a volume of each StorageClass, as the plan says. One command for each size.
# Written by plimsoll generate.
set -euo pipefail

PLIMSOLL="${PLIMSOLL:-plimsoll}"
IMAGE="${IMAGE:-}" # the image of plimsoll, in a registry that the cluster reaches: docs/kubernetes.md
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
KUBECONFIG_FILE="${KUBECONFIG_FILE:-$here/kubeconfig}"

measure() {
  "$PLIMSOLL" kubernetes run --kubeconfig "$KUBECONFIG_FILE" ${IMAGE:+--image "$IMAGE"} \
    --plan "$here/plan-kubernetes.toml" "$@"
}

