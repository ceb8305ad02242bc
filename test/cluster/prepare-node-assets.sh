#!/bin/sh
# Puts into FOLDER what real nodes in tests need besides the kubelet: containerd, runc and CNI plugins of Debian, unpacked and not
# installed, and images.tar, two images (local/busybox:1, local/pause:1) made of Debian's static busybox.
# Usage: prepare-node-assets.sh FOLDER; then ASTERISM_NODE_ASSETS=FOLDER.
set -eu
folder=$(mkdir -p "$1" && cd "$1" && pwd)
packages='containerd runc containernetworking-plugins busybox-static'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
# shellcheck disable=SC2086
apt-get download -qq $packages 2>/dev/null || { apt-get update -qq && apt-get download -qq $packages; }
for package in ./*.deb; do dpkg -x "$package" "$folder"; done

mkdir -p layer/bin layer/etc layer/root layer/proc layer/sys layer/dev
mkdir -m 1777 layer/tmp
cp "$folder/bin/busybox" layer/bin/busybox
for applet in $(layer/bin/busybox --list); do
  [ "$applet" = busybox ] || ln -s busybox "layer/bin/$applet"
done
echo 'root:x:0:0:root:/root:/bin/sh' >layer/etc/passwd
echo 'root:x:0:' >layer/etc/group
tar --owner=0 --group=0 -C layer -cf layer.tar .

architecture=$(dpkg --print-architecture)
digest=$(sha256sum layer.tar | cut -d' ' -f1)
config() {
  printf '{"architecture":"%s","os":"linux","config":{"Env":["PATH=/bin"],%s},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[]}' "$architecture" "$1" "$digest"
}
config '"Cmd":["/bin/sh"]' >busybox.json
config '"Entrypoint":["/bin/sleep","2147483647"]' >pause.json
cat >manifest.json <<'JSON'
[
  {"Config": "busybox.json", "RepoTags": ["local/busybox:1"], "Layers": ["layer.tar"]},
  {"Config": "pause.json", "RepoTags": ["local/pause:1"], "Layers": ["layer.tar"]}
]
JSON
tar -cf "$folder/images.tar" manifest.json busybox.json pause.json layer.tar
