
# Makes a disk where there is none of this name, and attaches it under its number where it is not attached.
disk() {
  local name="$1" lun="$2" caching="$3" holder
  shift 3
  if ! exists disk show --resource-group "$RESOURCE_GROUP" --name "$VM-$name"; then
    azure disk create --resource-group "$RESOURCE_GROUP" --name "$VM-$name" --location "$LOCATION" \
      --tags "$TAG" --output none "$@"
  fi
  wait_for "the disk $VM-$name" azure disk show --resource-group "$RESOURCE_GROUP" --name "$VM-$name" \
    --query provisioningState --output tsv
  holder="$(azure disk show --resource-group "$RESOURCE_GROUP" --name "$VM-$name" --query "managedBy || ''" --output tsv)"
  case "${holder##*/}" in
    "")
      azure vm disk attach --resource-group "$RESOURCE_GROUP" --vm-name "$VM" --name "$VM-$name" --lun "$lun" \
        --caching "$caching"
      ;;
    "$VM") ;;
    *) stop "the disk $VM-$name is attached to another machine: $holder" ;;
  esac
}
