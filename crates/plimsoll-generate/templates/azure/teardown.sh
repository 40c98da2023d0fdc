#!/usr/bin/env bash
# Removes the resource group that create.sh made, with all that is in it. It refuses a group that create.sh did not make,
# and one that holds what create.sh did not put there.
#
#   ./teardown.sh            shows what is removed, and asks
#   ./teardown.sh --yes      does not ask
#   ./teardown.sh --dry-run  shows, and removes nothing
set -euo pipefail

{{here}}SUBSCRIPTION="${SUBSCRIPTION:-}"
RESOURCE_GROUP="${RESOURCE_GROUP:-{{name}}}"
{{variables}}
stop() {
  echo "error: $*" >&2
  exit 1
}
[ -s "$here/setup-id" ] || stop "there is no setup-id in $here, which create.sh writes: nothing is known to be ours"
TAG_VALUE="$(cat "$here/setup-id")"
readonly TAG_NAME=plimsoll-setup TAG_VALUE

azure() {
  az "$@" ${SUBSCRIPTION:+--subscription "$SUBSCRIPTION"} --only-show-errors
}

mode="${1:-ask}"
case "$mode" in
  ask | --yes | --dry-run) ;;
  *) stop "$mode is no option: there are --yes and --dry-run" ;;
esac
subscription="$(azure account show --query id --output tsv)"
is_there="$(azure group exists --name "$RESOURCE_GROUP" --output tsv)"
place="/subscriptions/$subscription/resourceGroups/$RESOURCE_GROUP"
# Groups that create.sh has made elsewhere, one a line.
others="$(grep --invert-match --line-regexp --fixed-strings "$place" "$here/groups" 2>/dev/null || true)"
if [ "$is_there" != true ]; then
  [ -z "$others" ] || stop "there is no group $place: set RESOURCE_GROUP and SUBSCRIPTION as for create.sh, which made
$others"
  echo "there is no group $place: nothing to remove"
  exit 0
fi
owner="$(azure group show --name "$RESOURCE_GROUP" --query "tags.\"$TAG_NAME\" || ''" --output tsv)"
[ "$owner" = "$TAG_VALUE" ] ||
  stop "the group $place is not of this setup, and is left as it is, because its tag $TAG_NAME is \"$owner\", and setup-id in $here has \"$TAG_VALUE\": set RESOURCE_GROUP and SUBSCRIPTION as for create.sh"
# What is part of a machine of ours, as its disk of the system, has no tag of its own.
foreign="$(azure resource list --resource-group "$RESOURCE_GROUP" --output tsv \
  --query "[?tags.\"$TAG_NAME\" != '$TAG_VALUE' && {{parts}}type != 'Microsoft.Compute/virtualMachines/extensions'].id")"
[ -z "$foreign" ] || stop "the group $RESOURCE_GROUP holds what create.sh did not make: move it away first:
$foreign"
azure resource list --resource-group "$RESOURCE_GROUP" --output table \
  --query "[].{name:name, type:type, state:provisioningState}"
failed="$(azure resource list --resource-group "$RESOURCE_GROUP" --query "[?provisioningState=='Failed'].name" --output tsv)"
[ -z "$failed" ] || echo "in the state Failed, and removed like the others:
$failed"
[ "$mode" != --dry-run ] || exit 0
if [ "$mode" = ask ]; then
  read -r -p "Remove the group $RESOURCE_GROUP with all of that? Type its name: " answer
  [ "$answer" = "$RESOURCE_GROUP" ] || stop "nothing was removed"
fi
{{before}}azure group delete --name "$RESOURCE_GROUP" --yes --output none ||
  stop "the group $RESOURCE_GROUP cannot be removed: look for what is in the state Failed above, and for locks with az lock list --resource-group $RESOURCE_GROUP, remove those by themselves, and run this again"
[ "$(azure group exists --name "$RESOURCE_GROUP" --output tsv)" = false ] || stop "the group $RESOURCE_GROUP is still there"
{{after}}echo "removed $RESOURCE_GROUP"
rm -f "$here/groups"
if [ -n "$others" ]; then
  echo "$others" >"$here/groups"
  echo "create.sh has made these as well:
$others"
fi
