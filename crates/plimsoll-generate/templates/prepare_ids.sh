
# Volumes have ids that nobody knows before they are made: create.sh wrote them down.
[ -r "$here/disk-ids" ] || stop "disk-ids is missing, which create.sh wrote: copy it here"

# A volume: the name of its disk, where to mount it, its file system and its size in GiB.
volume() {
  local name="$1" id
  id="$(awk -v name="$name" '$1 == name { print $2 }' "$here/disk-ids")"
  [ -n "$id" ] || stop "disk-ids does not have $name"
  shift
  # The machine shows the id of a volume without its hyphen.
  disk "$@" "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_${id/-/}"
}
