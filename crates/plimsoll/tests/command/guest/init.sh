#!/bin/dash
# The first process of a guest. What a test wants run is a script in the firmware's configuration; what that says goes
# to ports whose other ends are files of the test, and the console is left to the kernel.
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C
# Whoever makes a device of device-mapper makes its node as well: there is no udev that would.
export DM_DISABLE_UDEV=1
busybox mount -t proc proc /proc
# Programs that are there already stay as they are.
busybox --install -s 2>/dev/null
busybox mount -t sysfs sysfs /sys
busybox mount -t devtmpfs devtmpfs /dev
busybox mkdir -p /dev/shm /dev/disk/by-id /dev/virtio-ports
busybox mount -t tmpfs tmpfs /run
busybox mkdir -p /run/lock
modprobe -a virtio_pci virtio_blk virtio_console qemu_fw_cfg

# As udev makes them: whoever opens one of the first three has its module loaded.
mkdir /dev/mapper
mknod /dev/mapper/control c 10 236
mknod /dev/btrfs-control c 10 234
mknod /dev/loop-control c 10 237
for port in /sys/class/virtio-ports/*; do
    ln -s "../${port##*/}" "/dev/virtio-ports/$(cat "$port/name")"
done
for disk in /sys/block/vd*; do
    ln -s "../../${disk##*/}" "/dev/disk/by-id/virtio-$(cat "$disk/serial")"
done

cat /sys/firmware/qemu_fw_cfg/by_name/opt/script/raw >/root/script
cd /root
echo "guest: the script begins"
sh -eu script </dev/null >/dev/virtio-ports/stdout 2>/dev/virtio-ports/stderr
code=$?
echo "guest: the script ended with $code"
tar -c -f /dev/virtio-ports/results -C /results .
echo $code >/dev/virtio-ports/code
# A write to a port returns before its other end has it, and a machine that is off sends nothing.
sleep 0.3
poweroff -f
