# PID 1 of a real node, in namespaces of its own: makes them look like a machine, and stays to reap.
# The environment: NODE (its name), HIERARCHIES (`name=option` of each cgroup hierarchy), SYSCTLS (a folder with the files to show).
set -e
hostname "$NODE"
# Every path that the kubelet and CNI have built in lies below these three: nodes need no different ones.
for path in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 tmpfs "$path"; done
mkdir -p /var/lib/kubelet /var/lib/cni /var/log/pods

umount -R /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
for hierarchy in $HIERARCHIES; do
  mkdir "/sys/fs/cgroup/${hierarchy%%=*}"
  mount -t cgroup -o "${hierarchy#*=}" cgroup "/sys/fs/cgroup/${hierarchy%%=*}"
done

# The kubelet finds what it would set, and leaves the machine's own alone.
for file in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  name="$SYSCTLS/$(echo "${file%%=*}" | tr / .)"
  echo "${file#*=}" >"$name"
  mount --bind "$name" "/proc/sys/${file%%=*}"
done

echo ready
while :; do sleep 1000 & wait $!; done
