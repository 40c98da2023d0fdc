# A SAN is removed from its volumes upwards: with a volume in it, the group could not go. A volume that a machine uses
# could not go either, so the machine is removed before it.
machine="$(azure vm list --resource-group "$RESOURCE_GROUP" --query "[?name=='$VM'].name" --output tsv)"
[ -z "$machine" ] || azure vm delete --resource-group "$RESOURCE_GROUP" --name "$VM" --yes --output none
san="$(azure resource list --resource-group "$RESOURCE_GROUP" --resource-type Microsoft.ElasticSan/elasticSans \
  --query "[?name=='$SAN'].name" --output tsv)"
if [ -n "$san" ]; then
  az extension show --name elastic-san --output none 2>/dev/null || az extension add --name elastic-san --only-show-errors
  for volume in $(azure elastic-san volume list --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
    --volume-group-name "$SAN_GROUP" --query "[].name" --output tsv); do
    azure elastic-san volume delete --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
      --volume-group-name "$SAN_GROUP" --name "$volume" --yes --output none
  done
  azure elastic-san volume-group delete --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
    --name "$SAN_GROUP" --yes --output none
  azure elastic-san delete --resource-group "$RESOURCE_GROUP" --name "$SAN" --yes --output none
fi
