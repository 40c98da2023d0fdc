
# A network of its own. Nothing reaches the machine from outside unless SSH_FROM says who may.
if ! exists network nsg show --resource-group "$RESOURCE_GROUP" --name "$VM-nsg"; then
  azure network nsg create --resource-group "$RESOURCE_GROUP" --name "$VM-nsg" --location "$LOCATION" \
    --tags "$TAG" --output none
fi
if [ -n "$SSH_FROM" ]; then
  azure network nsg rule create --resource-group "$RESOURCE_GROUP" --nsg-name "$VM-nsg" --name ssh --priority 1000 \
    --access Allow --direction Inbound --protocol Tcp --source-address-prefixes "$SSH_FROM" \
    --destination-port-ranges 22 --output none
elif exists network nsg rule show --resource-group "$RESOURCE_GROUP" --nsg-name "$VM-nsg" --name ssh; then
  azure network nsg rule delete --resource-group "$RESOURCE_GROUP" --nsg-name "$VM-nsg" --name ssh --output none
  echo "note: nobody reaches the machine by SSH any more, because SSH_FROM is empty" >&2
fi
if ! exists network vnet show --resource-group "$RESOURCE_GROUP" --name "$VM-network"; then
  azure network vnet create --resource-group "$RESOURCE_GROUP" --name "$VM-network" --location "$LOCATION" \
    --address-prefixes 10.42.0.0/16 --tags "$TAG" --output none
fi
if ! exists network vnet subnet show --resource-group "$RESOURCE_GROUP" --vnet-name "$VM-network" --name "$VM-subnet"; then
  azure network vnet subnet create --resource-group "$RESOURCE_GROUP" --vnet-name "$VM-network" --name "$VM-subnet" \
    --address-prefixes 10.42.0.0/24 --network-security-group "$VM-nsg"{{endpoints}} --output none
{{subnet_reaches}}fi

if ! exists vm show --resource-group "$RESOURCE_GROUP" --name "$VM"; then
  [ -r "$SSH_PUBLIC_KEY_FILE" ] || stop "there is no public key at $SSH_PUBLIC_KEY_FILE: set SSH_PUBLIC_KEY_FILE"
  # costs: a machine {{type}}, its disk of the system, and a public address{{reservation}}
  azure vm create --resource-group "$RESOURCE_GROUP" --name "$VM" --location "$LOCATION"{{zone}} \
    --size {{type}} --image "$IMAGE" --storage-sku {{os_sku}} \
    --admin-username "$ADMIN_USER" --ssh-key-values "$SSH_PUBLIC_KEY_FILE" --authentication-type ssh \
    --vnet-name "$VM-network" --subnet "$VM-subnet" --nsg "" \
    --public-ip-address "$VM-address" --public-ip-sku Standard{{options}} \
    --os-disk-name "${VM}_system" --os-disk-delete-option Delete --nic-delete-option Delete --tags "$TAG" --output none
  # That disk gets no tag from az, and may be all that is left of the machine.
  system="$(azure vm show --resource-group "$RESOURCE_GROUP" --name "$VM" --query storageProfile.osDisk.managedDisk.id --output tsv)"
  azure tag update --resource-id "$system" --operation Merge --tags "$TAG" --output none
else
  same "the machine $VM" "{{planned}}" "$(azure vm show --resource-group "$RESOURCE_GROUP" --name "$VM" --output tsv \
    --query "join(', ', [hardwareProfile.vmSize, zones[0] && join(' ', ['zone', zones[0]]), \
      (additionalCapabilities.ultraSSDEnabled || additionalCapabilities.ultraSsdEnabled) && 'takes Ultra Disks'{{controller}}][?@])")"
  # An image that is named in short is shown in full, and cannot be compared.
  case "$IMAGE" in
    */* | *:*:*:*)
      same "the image of the machine $VM" "$IMAGE" "$(azure vm show --resource-group "$RESOURCE_GROUP" --name "$VM" --output tsv \
        --query "storageProfile.imageReference.id || storageProfile.imageReference.join(':', [publisher, offer, sku, version])")"
      ;;
  esac
fi
wait_for "the machine $VM" azure vm show --resource-group "$RESOURCE_GROUP" --name "$VM" \
  --query provisioningState --output tsv
