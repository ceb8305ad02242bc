import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hierarchies } from './cgroups.ts';
import { unlessThere } from './real-kubernetes.ts';

/** The folder that `prepare-node-assets.sh` filled. */
export interface NodeAssets {
  /** With containerd, its shim, ctr and runc: for PATH. */
  bin: readonly string[];
  /** CNI plugins. */
  cni: string;
  /** `docker.io/local/busybox:1` and `docker.io/local/pause:1`. */
  images: string;
}

/** Of the image in `images.tar` that pods are made of: every applet of busybox in `/bin`. */
export const BUSYBOX_IMAGE = 'docker.io/local/busybox:1';
export const PAUSE_IMAGE = 'docker.io/local/pause:1';

/** What `ASTERISM_NODE_ASSETS` names. Throws where it names nothing: see {@link unlessNodes}. */
export function nodeAssets(): NodeAssets {
  const folder = process.env['ASTERISM_NODE_ASSETS'] ?? '';
  if (!existsSync(join(folder, 'images.tar'))) throw new Error(NO_ASSETS);
  return {
    bin: [join(folder, 'usr/bin'), join(folder, 'usr/sbin')],
    cni: join(folder, 'usr/lib/cni'),
    images: join(folder, 'images.tar'),
  };
}

const NO_ASSETS = 'no node assets: run test/cluster/prepare-node-assets.sh FOLDER and set ASTERISM_NODE_ASSETS=FOLDER';

/** For `test(name, {skip})`: false where a {@link Lab} can be made, else why not. */
export function unlessLab(): false | string {
  if (process.platform !== 'linux') return 'network namespaces are Linux’s';
  if (process.getuid?.() !== 0) return 'not root: network namespaces and nodes need it';
  try {
    execFileSync('unshare', ['--mount', '--pid', '--net', '--fork', '--mount-proc', 'ip', 'link', 'show', 'lo'], {
      stdio: 'pipe',
    });
    return false;
  } catch (error) {
    return `no namespaces here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** For `test(name, {skip})`: false where {@link RealNode}s can run, else why not. */
export function unlessNodes(): false | string {
  const absent = unlessThere('kubelet', 'kube-scheduler');
  if (absent !== false) return absent;
  if (!existsSync(join(process.env['ASTERISM_NODE_ASSETS'] ?? '', 'images.tar'))) return NO_ASSETS;
  const names = hierarchies().flatMap(({ name }) => name.split(','));
  const wanted = ['cpu', 'memory', 'pids', 'systemd'].find((name) => !names.includes(name));
  if (wanted !== undefined) return `no cgroup v1 hierarchy "${wanted}": nodes are not tried on cgroup v2 yet`;
  return unlessLab();
}
