#!/usr/bin/env bash
# Removes what create.sh made: what is in Terraform's state, and nothing else.
#
#   ./teardown.sh            shows what is removed, and asks
#   ./teardown.sh --yes      does not ask
#   ./teardown.sh --dry-run  shows, and removes nothing
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly here
{{variables}}
stop() {
  echo "error: $*" >&2
  exit 1
}

mode="${1:-ask}"
case "$mode" in
  ask | --yes | --dry-run) ;;
  *) stop "$mode is no option: there are --yes and --dry-run" ;;
esac
[ -e "$here/terraform/terraform.tfstate" ] || stop "there is no state in $here/terraform: nothing that is known to be ours"
command -v terraform >/dev/null || stop "terraform is not installed: see https://developer.hashicorp.com/terraform/install"
{{before}}case "$mode" in
  ask) terraform -chdir="$here/terraform" destroy ;;
  --yes) terraform -chdir="$here/terraform" destroy -auto-approve ;;
  --dry-run) terraform -chdir="$here/terraform" plan -destroy -input=false ;;
esac
{{after}}
