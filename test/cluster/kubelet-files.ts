import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type NodeAssets, PAUSE_IMAGE } from './node-assets.ts';

/** What a node's programs are told. */
export interface NodePlan {
  name: string;
  folder: string;
  /** In the lab's network. */
  address: string;
  /** CIDR of its pods. */
  pods: string;
  clientCaFile: string;
  servingCertificate: { cert: string; key: string };
}

export interface NodeFiles {
  containerd: string;
  kubelet: string;
  /** Where containerd listens. */
  socket: string;
}

/** Writes the configurations of containerd, CNI and the kubelet. */
export async function writeNodeFiles(plan: NodePlan, assets: NodeAssets): Promise<NodeFiles> {
  const path = (name: string): string => join(plan.folder, name);
  const socket = path('containerd.sock');
  await writeFile(path('containerd.toml'), containerdConfig(plan, assets, socket));
  await writeFile(path('10-lab.conflist'), JSON.stringify(networkConfig(plan)));
  await writeFile(path('resolv.conf'), 'nameserver 198.51.100.190\n');
  await writeFile(path('kubelet.json'), JSON.stringify(kubeletConfig(plan, path('resolv.conf'))));
  return { containerd: path('containerd.toml'), kubelet: path('kubelet.json'), socket };
}

export function kubeletArguments({ name, folder, address }: NodePlan, { kubelet, socket }: NodeFiles): string[] {
  return [
    `--config=${kubelet}`,
    `--kubeconfig=${join(folder, 'kubeconfig')}`,
    '--root-dir=/var/lib/kubelet',
    '--cert-dir=/var/lib/kubelet/pki',
    '--container-runtime=remote',
    `--container-runtime-endpoint=unix://${socket}`,
    `--node-ip=${address}`,
    `--hostname-override=${name}`,
    `--docker=unix://${join(folder, 'docker.sock')}`,
  ];
}

function containerdConfig({ folder }: NodePlan, { cni }: NodeAssets, socket: string): string {
  return `version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = [
  "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper",
  "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp",
]
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cni}"
    conf_dir = "${folder}"
`;
}

function networkConfig({ pods }: NodePlan): object {
  return {
    cniVersion: '0.4.0',
    name: 'lab',
    plugins: [
      {
        type: 'bridge',
        bridge: 'cni0',
        isGateway: true,
        ipMasq: false,
        hairpinMode: true,
        ipam: { type: 'host-local', ranges: [[{ subnet: pods }]], routes: [{ dst: '0.0.0.0/0' }] },
      },
    ],
  };
}

function kubeletConfig(plan: NodePlan, resolvConf: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: plan.address,
    readOnlyPort: 0,
    healthzPort: 0,
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: plan.clientCaFile },
    },
    authorization: { mode: 'Webhook' },
    tlsCertFile: plan.servingCertificate.cert,
    tlsPrivateKeyFile: plan.servingCertificate.key,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: '/',
    cgroupsPerQOS: true,
    enforceNodeAllocatable: [],
    evictionHard: {},
    failSwapOn: false,
    cpuManagerPolicy: 'none',
    makeIPTablesUtilChains: false,
    protectKernelDefaults: true,
    volumePluginDir: '/run/kubelet-plugins',
    oomScoreAdj: 0,
    resolvConf,
    nodeStatusUpdateFrequency: '1s',
    syncFrequency: '10s',
  };
}
