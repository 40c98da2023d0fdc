
# Volumes of the SAN: create.sh wrote down where they are.
[ -r "$here/iscsi-targets" ] || stop "iscsi-targets is missing, which create.sh wrote: copy it here"
command -v iscsiadm >/dev/null || stop "iscsiadm is missing: install open-iscsi or iscsi-initiator-utils"

# A volume: its name in the SAN, where to mount it, its file system and its size in GiB.
volume() {
  local name="$1" iqn host port address
  IFS=$'\t' read -r iqn host port < <(awk -F '\t' -v OFS='\t' -v name="$name" \
    '$1 == name { print $2, $3, $4 }' "$here/iscsi-targets") || stop "iscsi-targets does not have $name"
  shift
  # By its whole name: others may begin like it.
  if [ -z "$(iscsiadm --mode session 2>/dev/null | awk -v iqn="$iqn" '$4 == iqn')" ]; then
    run iscsiadm --mode node --targetname "$iqn" --portal "$host:$port" --op new
    run iscsiadm --mode node --targetname "$iqn" --portal "$host:$port" --op update --name node.startup --value automatic
    run iscsiadm --mode node --targetname "$iqn" --portal "$host:$port" --login
  fi
  address="$(getent ahostsv4 "$host" | awk 'NR == 1 { print $1 }')" || address=""
  [ -n "$address" ] ||
    stop "$host, for $name, has no address: look at how this machine resolves names, and try again"
  if [ "$mode" = --dry-run ] && ! compgen -G "/dev/disk/by-path/*-iscsi-$iqn-lun-*" >/dev/null; then
    echo "would mount $name at $1"
    return 0
  fi
  disk "$@" "/dev/disk/by-path/ip-$address:$port-iscsi-$iqn-lun-0"
}
