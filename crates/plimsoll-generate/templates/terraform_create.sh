#!/usr/bin/env bash
# Makes in {{provider}}, with Terraform from the files in terraform/, in a network of its own:
#   {{what}}
# Running it again makes what is missing. teardown.sh removes what is in Terraform's state, and nothing else.
#
#   ./create.sh        shows what is done, and asks
#   ./create.sh --yes  does not ask, and stops where something would be removed or made anew
#
# It needs Terraform 1.5 or newer{{needs}}, and credentials of the provider, which it neither holds nor writes.
# The rights and quotas that it takes stand in docs/generating.md of plimsoll.
# What is paid for has a line "costs:" in terraform/. Variables are set as in: TF_VAR_name=disks ./create.sh, and with
# TF_VAR_region goes TF_VAR_zone; teardown.sh needs the same.
# Written by plimsoll generate; what is checked against the catalog is in the plan, not here.
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
  ask | --yes) ;;
  *) stop "$mode is no option: there is --yes" ;;
esac
command -v terraform >/dev/null || stop "terraform is not installed: see https://developer.hashicorp.com/terraform/install"

terraform -chdir="$here/terraform" init -input=false
if [ "$mode" = ask ]; then
  terraform -chdir="$here/terraform" apply
else
  # A plan has all values that Terraform knows, and stays nowhere.
  work="$(mktemp -d)"
  trap 'rm -rf "$work" "$here/terraform/create.tfplan"' EXIT
  terraform -chdir="$here/terraform" plan -input=false -out=create.tfplan
  # What is called otherwise by now, or lies elsewhere, would be removed with all that is on it.
  # What somebody else has removed is no change of this plan. Terraform itself reads what it has written.
  terraform -chdir="$here/terraform" show -json create.tfplan >"$work/plan.json"
  removed="$(echo 'join(", ", [for one in lookup(jsondecode(file("plan.json")), "resource_changes", []) : one.address if contains(one.change.actions, "delete")])' |
    terraform -chdir="$work" console)"
  [ "$removed" = '""' ] ||
    stop "these would be removed or made anew, with what is on them: $removed: run it without --yes, and look at what Terraform shows"
  terraform -chdir="$here/terraform" apply create.tfplan
fi
