
# Makes a disk where there is none of this name, and attaches it where it is not attached, under the first number that is
# free. It keeps that, whatever comes before it in the plan later; prepare.sh finds it by it.
: >"$here/disk-luns"
disk() {
  local name="$1" caching="$2" planned="$3" holder lun
  shift 3
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
      azure vm disk attach --resource-group "$RESOURCE_GROUP" --vm-name "$VM" --name "$VM-$name" \
        --caching "$caching"
      ;;
    "$VM")
      same "the disk $VM-$name" "caching $caching" "$(azure vm show --resource-group "$RESOURCE_GROUP" --name "$VM" \
        --output tsv --query "storageProfile.dataDisks[?name=='$VM-$name'] | [0].join(' ', ['caching', caching])")"
      ;;
    *) stop "the disk $VM-$name is attached to another machine: $holder" ;;
  esac
  lun="$(azure vm show --resource-group "$RESOURCE_GROUP" --name "$VM" --output tsv \
    --query "storageProfile.dataDisks[?name=='$VM-$name'] | [0].lun")"
  case "$lun" in
    [0-9] | [0-9][0-9]) echo "$name $lun" >>"$here/disk-luns" ;;
    *) stop "the machine $VM does not tell the number of the disk $VM-$name: run this again" ;;
  esac
}
