
# Makes a disk where there is none of this name, and attaches it under its number where it is not attached. By its number
# prepare.sh finds it.
disk() {
  local name="$1" lun="$2" caching="$3" planned="$4" holder
  shift 4
  if ! exists disk show --resource-group "$RESOURCE_GROUP" --name "$VM-$name"; then
    azure disk create --resource-group "$RESOURCE_GROUP" --name "$VM-$name" --location "$LOCATION" \
      --tags "$TAG" --output none "$@"
  else
    # IOPS and MB/s of other disks follow from their size, and are shown all the same.
    same "the disk $VM-$name" "$planned" "$(azure disk show --resource-group "$RESOURCE_GROUP" --name "$VM-$name" --output tsv \
      --query "join(', ', [sku.name, join(' ', [to_string(diskSizeGB), 'GiB']), zones[0] && join(' ', ['zone', zones[0]]), \
        (sku.name == 'PremiumV2_LRS' || sku.name == 'UltraSSD_LRS') && \
          join(' ', [to_string(diskIOPSReadWrite), 'IOPS,', to_string(diskMBpsReadWrite), 'MB/s']), \
        starts_with(sku.name, 'Premium_') && join(' ', ['tier', to_string(tier)]), \
        burstingEnabled && 'bursts on demand', creationData.performancePlus && 'performance plus'][?@])")"
  fi
  wait_for "the disk $VM-$name" azure disk show --resource-group "$RESOURCE_GROUP" --name "$VM-$name" \
    --query provisioningState --output tsv
  holder="$(azure disk show --resource-group "$RESOURCE_GROUP" --name "$VM-$name" --query "managedBy || ''" --output tsv)"
  case "${holder##*/}" in
    "")
      azure vm disk attach --resource-group "$RESOURCE_GROUP" --vm-name "$VM" --name "$VM-$name" --lun "$lun" \
        --caching "$caching"
      ;;
    "$VM")
      same "the disk $VM-$name" "number $lun, caching $caching" "$(azure vm show --resource-group "$RESOURCE_GROUP" \
        --name "$VM" --output tsv --query "storageProfile.dataDisks[?name=='$VM-$name'] | [0].join('', ['number ', \
          to_string(lun), ', caching ', caching])")"
      ;;
    *) stop "the disk $VM-$name is attached to another machine: $holder" ;;
  esac
}
