#!/bin/bash
# Runs the tests of clocks, and Recount with every fault on containers, on an emulated arm64 with Debian 13's kernel and Docker.
#   tools/arm64/machine.sh FOLDER    # the machine is made there, and kept for the next time: 3 GB
# It wants root, and of Debian: debootstrap qemu-system-arm xz-utils cpio e2fsprogs gcc-aarch64-linux-gnu libc6-dev-arm64-cross.
# An emulated machine is some twenty times slower than this one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) repository=$(cd "$(dirname "$0")/../.." && pwd)
folder=${1:?want a folder}
mkdir -p "$folder" && cd "$folder"

# Packages are unpacked and not set up: what is started is started by boot.sh.
if [ ! -e packages ]; then
	rm -rf root
	debootstrap --arch=arm64 --foreign --variant=minbase \
		--include=docker.io,docker-cli,iptables,iproute2,kmod,procps,python3-minimal,busybox-static,linux-image-cloud-arm64 trixie root http://deb.debian.org/debian
	for package in root/var/cache/apt/archives/*.deb; do dpkg -x "$package" root; done
	rm -rf root/var/cache/apt/archives root/debootstrap
	touch packages
fi

# What the kernel has as modules and needs before it has a disk, and who loads them.
rm -rf first && mkdir -p first/{bin,dev,root,modules}
cp root/usr/bin/busybox first/bin/ && ln -s busybox first/bin/sh && cp "$here/first.sh" first/init
for module in virtio_mmio virtio_blk; do
	find root/usr/lib/modules -name "$module.ko.xz" -exec xz -dc {} \; > "first/modules/$module.ko"
done
(cd first && find . | cpio --quiet -o -H newc | gzip -1 > ../first.gz)

# What is tried. There is no compiler there: go and gcc are what copies the programs that were made here.
export CGO_ENABLED=0 GOARCH=arm64
clock=docker/agent/clock
mkdir -p root/tried/programs && cp "$here"/boot.sh "$here"/go "$here"/gcc root/tried/ && cp -r "$repository/$clock/testdata" root/tried/
(cd "$repository" && go build -trimpath -o "$folder/root/tried/recount" ./cmd/recount &&
	go test -c -o "$folder/root/tried/clock.test" "./$clock" && go build -trimpath -o "$folder/root/tried/programs/go" "./$clock/testdata/static")
aarch64-linux-gnu-gcc -O2 -pthread -static -o root/tried/programs/static "$repository/$clock/testdata/program.c"
aarch64-linux-gnu-gcc -O2 -pthread -o root/tried/programs/dynamic "$repository/$clock/testdata/program.c"

rm -f disk && truncate -s 6G disk && mkfs.ext4 -q -F -d root disk
timeout 60m qemu-system-aarch64 -M virt -cpu max -smp 2 -accel tcg,thread=multi -m 3072 -nographic -nic none -no-reboot \
	-kernel root/boot/vmlinuz-* -initrd first.gz -drive file=disk,format=raw,if=virtio -append "console=ttyAMA0 quiet" < /dev/null | tee told
grep -q '^all is well' told
