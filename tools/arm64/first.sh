#!/bin/sh
# The first process of the emulated machine: it looks for the disk.
b=/bin/busybox
$b mount -t devtmpfs dev /dev
for module in /modules/*.ko; do $b insmod "$module"; done
until $b mount -t ext4 /dev/vda /root 2>/dev/null; do $b sleep 0.2; done
$b mount --move /dev /root/dev
exec $b switch_root /root /bin/bash /tried/boot.sh
