
# Disks have numbers that Azure gave them: create.sh wrote them down, or terraform output -raw disk_luns >disk-luns does.
[ -r "$here/disk-luns" ] || stop "disk-luns is missing, which create.sh wrote: copy it here"

# A disk that is attached under a number: its name, where to mount it, its file system and its size in GiB.
attached() {
  local name="$1" lun
  lun="$(awk -v name="$name" '$1 == name { print $2 }' "$here/disk-luns")"
  [ -n "$lun" ] || stop "disk-luns does not have $name: copy here what create.sh wrote last"
  shift
  disk "$@" "/dev/disk/azure/scsi1/lun$lun" "/dev/disk/azure/data/by-lun/$lun"
}
