#!/usr/bin/env bash
# Runs on the machine, as root: makes a file system on each disk that has none, and mounts it, now and after a restart.
# Disks are found by names that follow from how they were attached, never by letters that change from start to start.
# A disk that holds anything but a file system of this script is left alone, and so is one that is mounted elsewhere.
#
#   sudo ./prepare.sh            does it; running it again does what is missing
#   sudo ./prepare.sh --dry-run  says what would be done
#
# Written by plimsoll generate.
set -euo pipefail

WAIT_SECONDS="${WAIT_SECONDS:-120}" # no longer for any one disk to appear
FSTAB="${FSTAB:-/etc/fstab}"
{{here}}# By this label the script knows its own file systems again.
readonly LABEL=plimsoll

stop() {
  echo "error: $*" >&2
  exit 1
}

mode="${1:-do}"
case "$mode" in
  do | --dry-run) ;;
  *) stop "$mode is no option: there is --dry-run" ;;
esac
[ "$(id -u)" = 0 ] || stop "it takes root to mount: run it with sudo"

# Does a command, or says it.
run() {
  if [ "$mode" = --dry-run ]; then
    echo "would run: $*"
  else
    "$@"
  fi
}

# The device behind the first of some names that is there, once it is.
find_device() {
  local name end=$((SECONDS + WAIT_SECONDS))
  while true; do
    for name in "$@"; do
      if [ -b "$name" ]; then
        readlink --canonicalize "$name"
        return 0
      fi
    done
    [ "$SECONDS" -lt "$end" ] || stop "no disk is called $* after $WAIT_SECONDS s: is it attached?"
    sleep 1
  done
}

# Where something is mounted at a directory, its device.
mounted_at() {
  findmnt --noheadings --first-only --output SOURCE --mountpoint "$1" 2>/dev/null || true
}

# What the table of file systems has for a directory besides one disk, which a second line would be added to.
others_at() {
  [ ! -e "$FSTAB" ] || awk -v directory="$1" -v disk="UUID=$2" \
    '$1 !~ /^#/ && $2 == directory && $1 != disk { print $1 }' "$FSTAB"
}

# Writes down where a disk is mounted, in the place of what an earlier plan had for it.
write_down() {
  local disk="$1" line="$*"
  if [ -e "$FSTAB" ] && grep --quiet --line-regexp --fixed-strings "$line" "$FSTAB"; then
    return 0
  fi
  {
    [ ! -e "$FSTAB" ] || awk -v disk="$disk" '$1 != disk' "$FSTAB"
    echo "$line"
  } >"$FSTAB.plimsoll"
  [ ! -e "$FSTAB" ] || chmod --reference="$FSTAB" "$FSTAB.plimsoll"
  mv "$FSTAB.plimsoll" "$FSTAB"
}

# A disk: where to mount it, its file system, its size in GiB, and the names that it may have. A blank one gets a name
# instead, by which plimsoll makes arrays of it, when it is blank.
disk() {
  local directory="$1" file_system="$2" size_gib="$3" options=defaults,nofail device held label uuid is_mounted=no
  shift 3
  # What is on the network is mounted once the network is there.
  case "$1" in /dev/disk/by-path/*) options="$options,_netdev" ;; esac
  device="$(find_device "$@")"
  [ "$(($(blockdev --getsize64 "$device") >> 30))" = "$size_gib" ] ||
    stop "$device, for $directory, has not $size_gib GiB: it is another disk"
  if [ "$file_system" = blank ]; then
    label="$(blkid --probe --match-tag LABEL --output value "$device")" || [ "$?" = 2 ] || stop "blkid cannot look at $device"
    [ "$label" != "$LABEL" ] ||
      stop "$device, for $directory, has a file system of an earlier plan: wipe it, if nobody needs what is on it"
    run mkdir --parents "$(dirname "$directory")"
    run ln --symbolic --force --no-dereference "$device" "$directory"
    [ "$mode" = --dry-run ] || echo "$directory: it is $device"
    return 0
  fi
  held="$(mounted_at "$directory")"
  if [ -n "$held" ]; then
    [ "$(readlink --canonicalize "$held")" = "$device" ] || stop "at $directory is $held, not $device: unmount it first"
    is_mounted=yes
  else
    # A tool that fails says nothing, which does not mean that there is nothing.
    held="$(lsblk --noheadings --output MOUNTPOINT "$device")" || stop "lsblk cannot look at $device"
    [ -z "$(tr --delete '[:space:]' <<<"$held")" ] || stop "$device, for $directory, is mounted elsewhere"
    held="$(lsblk --noheadings --list --output NAME "$device")" || stop "lsblk cannot look at $device"
    [ "$(wc --lines <<<"$held")" = 1 ] || stop "$device, for $directory, has partitions or is part of something"
    [ -z "$(ls --almost-all "$directory" 2>/dev/null)" ] ||
      stop "$directory is not empty, and what is in it would be hidden: name another directory"
  fi
  label="$(blkid --probe --match-tag LABEL --output value "$device")" || [ "$?" = 2 ] || stop "blkid cannot look at $device"
  uuid=none
  if [ "$label" = "$LABEL" ]; then
    held="$(blkid --probe --match-tag TYPE --output value "$device")" || stop "blkid cannot look at $device"
    [ "$held" = "$file_system" ] ||
      stop "$device, for $directory, has the file system $held of an earlier plan, and the plan says $file_system: change the plan back, or unmount and wipe the disk, if nobody needs what is on it"
    uuid="$(blkid --probe --match-tag UUID --output value "$device")"
  elif [ "$is_mounted" = yes ]; then
    # Whoever made and mounted it keeps track of it.
    echo "$directory: $device is mounted"
    return 0
  fi
  held="$(others_at "$directory" "$uuid")"
  [ -z "$held" ] || stop "$FSTAB mounts $held at $directory, not $device: remove that line, or name another directory"
  if [ "$label" != "$LABEL" ]; then
    held="$(wipefs --noheadings --output TYPE "$device")" || stop "wipefs cannot look at $device"
    [ -z "$held" ] || stop "$device, for $directory, holds something already: look at it with: wipefs $device"
    command -v "mkfs.$file_system" >/dev/null || stop "mkfs.$file_system is missing: install e2fsprogs or xfsprogs"
    # All of the file system is written now: what is put off would be written while something is measured.
    case "$file_system" in
      ext4) run mkfs.ext4 -q -L "$LABEL" -E lazy_itable_init=0,lazy_journal_init=0 "$device" ;;
      xfs) run mkfs.xfs -q -L "$LABEL" "$device" ;;
    esac
  fi
  if [ "$mode" = --dry-run ]; then
    [ "$is_mounted" = yes ] || echo "would mount $device at $directory, and write that down in $FSTAB"
    return 0
  fi
  uuid="$(blkid --probe --match-tag UUID --output value "$device")"
  if [ "$is_mounted" = no ]; then
    mkdir --parents "$directory"
    mount --types "$file_system" "UUID=$uuid" "$directory"
  fi
  # Only what could be mounted is written down. nofail: the machine starts without the disk as well.
  write_down "UUID=$uuid" "$directory" "$file_system" "$options" 0 2
  echo "$directory: $device is mounted"
}
