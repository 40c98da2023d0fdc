# A SAN is removed from its volumes upwards: with a volume in it, the group could not go.
if azure elastic-san show --resource-group "$RESOURCE_GROUP" --name "$SAN" --output none 2>/dev/null; then
  for volume in $(azure elastic-san volume list --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
    --volume-group-name "$SAN_GROUP" --query "[].name" --output tsv); do
    azure elastic-san volume delete --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
      --volume-group-name "$SAN_GROUP" --name "$volume" --yes --output none
  done
  azure elastic-san volume-group delete --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
    --name "$SAN_GROUP" --yes --output none
  azure elastic-san delete --resource-group "$RESOURCE_GROUP" --name "$SAN" --yes --output none
fi
