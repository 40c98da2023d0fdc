#!/usr/bin/env bash
# Makes in {{provider}}, with Terraform from the files in terraform/, in a network of its own:
#   {{what}}
# Running it again makes what is missing. teardown.sh removes what is in Terraform's state, and nothing else.
#
#   ./create.sh        shows what is made, and asks
#   ./create.sh --yes  does not ask
#
# It needs Terraform 1.5 or newer{{needs}}, and credentials of the provider, which it neither holds nor writes.
# What is paid for has a line "costs:" in terraform/. Variables are set as in: TF_VAR_name=disks ./create.sh
# Written by plimsoll generate; what is checked against the catalog is in the plan, not here.
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly here
{{variables}}
stop() {
  echo "error: $*" >&2
  exit 1
}

approve=()
case "${1:-ask}" in
  ask) ;;
  --yes) approve=(-auto-approve) ;;
  *) stop "$1 is no option: there is --yes" ;;
esac
command -v terraform >/dev/null || stop "terraform is not installed: see https://developer.hashicorp.com/terraform/install"

terraform -chdir="$here/terraform" init -input=false
# Without --yes, Terraform shows what it makes and asks.
terraform -chdir="$here/terraform" apply ${approve[@]+"${approve[@]}"}
