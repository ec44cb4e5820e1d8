#!/usr/bin/env bash
# Makes the image recount/kubernetes of a Kubernetes node, with its control plane: etcd, kube-apiserver, kube-controller-manager,
# kube-scheduler and kubelet in one program, built from their Go modules, and containerd with what it needs from Debian's packages.
# It takes Go, Docker, apt-get and dpkg-deb, and eleven minutes of a processor the first time. Nothing is installed here.
#
# usage: tools/kubernetes/node.sh [IMAGE]
set -euo pipefail
image=${1:-recount/kubernetes:1.34.4}
here=$(cd "$(dirname "$0")" && pwd)
w=$(mktemp -d)
trap 'rm -rf "$w"' EXIT
export CGO_ENABLED=0 GOFLAGS="-buildvcs=false -trimpath" GOWORK=off
mkdir -p "$w/root/usr/bin" "$w/pause" "$w/debs"

echo "building Kubernetes" >&2
version=k8s.io/component-base/version
(cd "$here" && go build -ldflags="-s -w -X $version.gitVersion=v1.34.4 -X $version.gitMajor=1 -X $version.gitMinor=34" -o "$w/root/usr/bin/k8s" . &&
	go build -ldflags="-s -w" -o "$w/pause/pause" ./pause)
printf 'FROM scratch\nCOPY pause /pause\nENTRYPOINT ["/pause"]\n' >"$w/pause/Dockerfile"
docker build -q -t recount/pause:1 "$w/pause" >/dev/null

echo "unpacking containerd" >&2
(cd "$w/debs" && LC_ALL=C apt-get download -q containerd runc containernetworking-plugins libc6 libseccomp2 mount libmount1 libblkid1 libselinux1 libpcre2-8-0 busybox-static >/dev/null)
for deb in "$w"/debs/*.deb; do dpkg-deb --extract "$deb" "$w/root"; done
root=$w/root
rm -rf "$root"/usr/share "$root"/usr/lib/x86_64-linux-gnu/{gconv,audit} "$root"/lib/systemd "$root"/usr/bin/containerd-{shim,shim-runc-v1,stress} "$root"/etc/apparmor.d
find "$root/usr/lib/cni" -type f | grep -vE '/(bridge|ptp|host-local|loopback|portmap)$' | xargs rm -f
mkdir -p "$root"/{tmp,run,proc,sys,dev,images,var/lib/containerd,var/lib/kubelet,etc/cni/net.d,etc/kubernetes,etc/containerd}
ln -sf busybox "$root/bin/sh"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd" # kubelet wants it
echo 'root:x:0:' >"$root/etc/group"
echo 'recount,recount,recount,system:masters' >"$root/etc/kubernetes/tokens.csv"
cp "$here/node/config.toml" "$root/etc/containerd/"
cp "$here/node/10-k8s.conflist" "$root/etc/cni/net.d/"
cp "$here/node/kubeconfig" "$here/node/kubelet.yaml" "$root/etc/kubernetes/"
cp "$here/node/init" "$root/init"
chmod +x "$root/init"
docker save recount/pause:1 >"$root/images/pause.tar"
printf 'FROM scratch\nCOPY root /\nENTRYPOINT ["/init"]\n' >"$w/Dockerfile"
docker build -q -t "$image" "$w"
