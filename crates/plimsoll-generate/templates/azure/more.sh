
# What an earlier plan had is paid for until somebody removes it.
more="$(azure resource list --resource-group "$RESOURCE_GROUP" --output tsv \
  --query "[?tags.\"$TAG_NAME\" == '$TAG_VALUE' && contains(['Microsoft.Compute/virtualMachines', \
    'Microsoft.Compute/disks', 'Microsoft.ElasticSan/elasticSans', 'Microsoft.ContainerService/managedClusters'], type) \
    && !contains([{{names}}], name)].name")"
[ -z "$more" ] || echo "note: these are there and not in the plan, and cost until they are removed:
$more" >&2
# So is what it made when the plan, or RESOURCE_GROUP, had another name for it.
others="$(grep --invert-match --line-regexp --fixed-strings "$place" "$here/groups" || true)"
[ -z "$others" ] || echo "note: these groups were made from here before, and cost until RESOURCE_GROUP=NAME ./teardown.sh removes them:
$others" >&2
