#!/usr/bin/env bash
# Removes the resource group that create.sh made, with all that is in it, whatever plan it was made for. It refuses a
# group that create.sh did not make, and one that holds what create.sh did not put there.
#
#   ./teardown.sh            shows what is removed, and asks
#   ./teardown.sh --yes      does not ask
#   ./teardown.sh --dry-run  shows, and removes nothing
set -euo pipefail

{{here}}SUBSCRIPTION="${SUBSCRIPTION:-}"
RESOURCE_GROUP="${RESOURCE_GROUP:-{{name}}}"

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
command -v az >/dev/null || stop "az is not installed: see https://learn.microsoft.com/cli/azure/install-azure-cli"
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
# Names in a group, of one kind of thing.
named() {
  azure resource list --resource-group "$1" --resource-type "$2" --query "[].name" --output tsv
}
# What is part of a machine of ours, as its disk of the system, may have no tag of its own.
machines="$(azure resource list --resource-group "$RESOURCE_GROUP" --resource-type Microsoft.Compute/virtualMachines \
  --query "[?tags.\"$TAG_NAME\" == '$TAG_VALUE'].name" --output tsv)"
parts="''"
for machine in $machines; do
  parts="$parts, '${machine}_system'"
done
foreign="$(azure resource list --resource-group "$RESOURCE_GROUP" --output tsv \
  --query "[?tags.\"$TAG_NAME\" != '$TAG_VALUE' && !(type == 'Microsoft.Compute/disks' && contains([$parts], name)) && \
    type != 'Microsoft.Compute/virtualMachines/extensions'].id")"
[ -z "$foreign" ] || stop "the group $RESOURCE_GROUP holds what create.sh did not make: move it away first:
$foreign"
azure resource list --resource-group "$RESOURCE_GROUP" --output table \
  --query "[].{name:name, type:type, state:provisioningState}"
# Azure Container Storage makes SANs in the group of a cluster's nodes, which goes with the cluster.
places="$RESOURCE_GROUP"
clusters="$(named "$RESOURCE_GROUP" Microsoft.ContainerService/managedClusters)"
for cluster in $clusters; do
  node_group="$(azure aks show --resource-group "$RESOURCE_GROUP" --name "$cluster" --query nodeResourceGroup --output tsv)"
  node_group_is_there="$(azure group exists --name "$node_group" --output tsv)"
  [ "$node_group_is_there" != true ] || places="$places $node_group"
done
for place_of_sans in $places; do
  sans="$(named "$place_of_sans" Microsoft.ElasticSan/elasticSans)"
  for san in $sans; do
    echo "with all its volumes and their snapshots: the SAN $san in the group $place_of_sans"
  done
done
failed="$(azure resource list --resource-group "$RESOURCE_GROUP" --query "[?provisioningState=='Failed'].name" --output tsv)"
[ -z "$failed" ] || echo "in the state Failed, and removed like the others:
$failed"
[ "$mode" != --dry-run ] || exit 0
if [ "$mode" = ask ]; then
  read -r -p "Remove the group $RESOURCE_GROUP with all of that? Type its name: " answer
  [ "$answer" = "$RESOURCE_GROUP" ] || stop "nothing was removed"
fi
# A SAN is removed from its volumes upwards: with a volume in it, its group could not go. What still has a session with a
# volume is removed before it or right behind it, and does not keep it.
remove_sans() {
  local group="$1" sans san volume_groups volume_group volumes volume
  sans="$(named "$group" Microsoft.ElasticSan/elasticSans)"
  [ -n "$sans" ] || return 0
  az extension show --name elastic-san --output none 2>/dev/null || az extension add --name elastic-san --only-show-errors
  for san in $sans; do
    volume_groups="$(azure elastic-san volume-group list --resource-group "$group" --elastic-san-name "$san" \
      --query "[].name" --output tsv)"
    for volume_group in $volume_groups; do
      volumes="$(azure elastic-san volume list --resource-group "$group" --elastic-san-name "$san" \
        --volume-group-name "$volume_group" --query "[].name" --output tsv)"
      for volume in $volumes; do
        azure elastic-san volume delete --resource-group "$group" --elastic-san-name "$san" \
          --volume-group-name "$volume_group" --name "$volume" --x-ms-delete-snapshots true --x-ms-force-delete true \
          --yes --output none
      done
      azure elastic-san volume-group delete --resource-group "$group" --elastic-san-name "$san" \
        --name "$volume_group" --yes --output none
    done
    azure elastic-san delete --resource-group "$group" --name "$san" --yes --output none
  done
}
for machine in $machines; do
  azure vm delete --resource-group "$RESOURCE_GROUP" --name "$machine" --yes --output none
done
for place_of_sans in $places; do
  remove_sans "$place_of_sans"
done
azure group delete --name "$RESOURCE_GROUP" --yes --output none ||
  stop "the group $RESOURCE_GROUP cannot be removed: look for what is in the state Failed above, and for locks with az lock list --resource-group $RESOURCE_GROUP, remove those by themselves, and run this again"
[ "$(azure group exists --name "$RESOURCE_GROUP" --output tsv)" = false ] || stop "the group $RESOURCE_GROUP is still there"
# One that is elsewhere may hold credentials of other clusters.
rm -f "$here/kubeconfig"
echo "removed $RESOURCE_GROUP"
rm -f "$here/groups"
if [ -n "$others" ]; then
  echo "$others" >"$here/groups"
  echo "create.sh has made these as well:
$others"
fi
