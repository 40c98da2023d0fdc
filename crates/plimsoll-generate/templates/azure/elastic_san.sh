
# Volumes of an Elastic SAN, which only the machine's subnet reaches.
az extension show --name elastic-san --output none 2>/dev/null || az extension add --name elastic-san --only-show-errors
if ! exists elastic-san show --resource-group "$RESOURCE_GROUP" --name "$SAN"; then
  # costs: an Elastic SAN of {{tib}} TiB base size, whatever its volumes take of it
  azure elastic-san create --resource-group "$RESOURCE_GROUP" --name "$SAN" --location "$LOCATION" \
    --base-size-tib {{tib}} --extended-capacity-size-tib 0 --sku "{name:Premium_LRS,tier:Premium}"{{zones}} \
    --tags "{$TAG_NAME:$TAG_VALUE}" --output none
else
  same "the SAN $SAN" "{{planned}}" "$(azure elastic-san show --resource-group "$RESOURCE_GROUP" --name "$SAN" --output tsv \
    --query "join(', ', [join(' ', [to_string(baseSizeTiB), 'TiB']), \
      availabilityZones[0] && join(' ', ['zone', availabilityZones[0]])][?@])")"
fi
wait_for "the SAN $SAN" azure elastic-san show --resource-group "$RESOURCE_GROUP" --name "$SAN" \
  --query provisioningState --output tsv
if ! exists elastic-san volume-group show --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" --name "$SAN_GROUP"; then
  subnet="$(azure network vnet subnet show --resource-group "$RESOURCE_GROUP" --vnet-name "$VM-network" \
    --name "$VM-subnet" --query id --output tsv)"
  azure elastic-san volume-group create --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
    --name "$SAN_GROUP" --protocol-type Iscsi \
    --network-acls "{virtual-network-rules:[{id:'$subnet',action:Allow}]}" --output none
fi

# Makes a volume where there is none of this name, and writes down where it is for prepare.sh.
: >"$here/iscsi-targets"
volume() {
  local name="$1" size_gib="$2"
  if ! exists elastic-san volume show --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
    --volume-group-name "$SAN_GROUP" --name "$name"; then
    azure elastic-san volume create --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
      --volume-group-name "$SAN_GROUP" --name "$name" --size-gib "$size_gib" --output none
  else
    same "the volume $name" "$size_gib GiB" "$(azure elastic-san volume show --resource-group "$RESOURCE_GROUP" \
      --elastic-san-name "$SAN" --volume-group-name "$SAN_GROUP" --name "$name" --output tsv \
      --query "join(' ', [to_string(sizeGiB), 'GiB'])")"
  fi
  wait_for "the volume $name" azure elastic-san volume show --resource-group "$RESOURCE_GROUP" \
    --elastic-san-name "$SAN" --volume-group-name "$SAN_GROUP" --name "$name" --query provisioningState --output tsv
  azure elastic-san volume show --resource-group "$RESOURCE_GROUP" --elastic-san-name "$SAN" \
    --volume-group-name "$SAN_GROUP" --name "$name" --output tsv \
    --query "[name, storageTarget.targetIqn, storageTarget.targetPortalHostname, storageTarget.targetPortalPort]" |
    tr '\n' '\t' >>"$here/iscsi-targets"
  echo >>"$here/iscsi-targets"
}
