#!/bin/bash
# What the emulated machine does once it has a disk.
exec </dev/null >/dev/console 2>&1
export PATH=/tried:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for folder in /run /tmp; do mount -t tmpfs tmpfs $folder; done
mkdir -p /dev/pts /dev/shm /dev/mqueue
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t mqueue mqueue /dev/mqueue
hostname arm64
ip link set lo up
echo "127.0.0.1 localhost arm64" > /etc/hosts
ln -sf iptables-nft /usr/sbin/iptables
ln -sf ip6tables-nft /usr/sbin/ip6tables
depmod -a
while true; do dockerd --exec-opt native.cgroupdriver=cgroupfs; done > /var/log/dockerd 2>&1 & # which gives up where containerd takes 15 s to start
until docker version > /dev/null 2>&1; do sleep 2; done
docker version --format "Docker {{.Server.Version}} on {{.Server.Arch}}, kernel {{.Server.KernelVersion}}"

cd /tried &&
	./clock.test -test.timeout 30m -test.v &&
	./recount doctor --try &&
	./recount doctor --measure &&
	./recount run --target raft --on docker --nodes 3 --opt scale=20 --nemesis clock-jump,clock-drift,clock-strobe --time 90s --seed 2 &&
	echo all is well
sync
echo o > /proc/sysrq-trigger
sleep 60
