import type { Clock } from '@asterism/client';
import type { RuntimeContainer } from './container-runtime.ts';
import { absolutePath, FileSystem } from './file-system.ts';

/** Bytes that the files of one container can hold. */
const LIMIT = 1024 ** 3;
const DIRECTORIES = 'bin dev etc home mnt opt proc root run srv sys tmp usr/bin var/log var/run'.split(' ');
const DEVICES = ['null', 'zero', 'random', 'stdin', 'stdout', 'stderr', 'tty'] as const;

/** The files that every container starts with, and those that are mounted into it. */
export function containerFiles(
  clock: Clock,
  namespace: string,
  container: RuntimeContainer,
  programs: Iterable<string>,
): FileSystem {
  const files = new FileSystem(() => clock.wall().getTime(), LIMIT);
  for (const path of DIRECTORIES) files.makeDirectory(`/${path}`, { parents: true });
  for (const name of programs) files.openToWrite(`/bin/${name}`, { mode: 0o755 });
  for (const device of DEVICES) files.makeDevice(device, `/dev/${device}`);
  files.makeDevice('random', '/dev/urandom');
  const search = `${namespace}.svc.cluster.local svc.cluster.local cluster.local`;
  write(files, '/etc/hostname', `${container.hostname}\n`);
  write(files, '/etc/hosts', '# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost\n');
  write(files, '/etc/resolv.conf', `search ${search}\nnameserver 10.96.0.10\noptions ndots:5\n`);
  write(files, '/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n');
  for (const [path, node] of container.shared ?? []) files.mount(absolutePath('/', path), node);
  mount(files, container.files);
  files.makeDirectory(absolutePath('/', container.workingDir), { parents: true });
  return files;
}

function write(files: FileSystem, path: string, data: string | Uint8Array): { readOnly: boolean } {
  const node = files.openToWrite(path);
  if (node.kind === 'device') return { readOnly: false };
  files.append(node, Buffer.from(data));
  return node;
}

/** Mounts files read-only. A directory that only mounted files need is read-only too. */
function mount(files: FileSystem, mounted: RuntimeContainer['files']): void {
  const made = new Set<string>();
  for (const [given, data] of mounted) {
    const path = absolutePath('/', given);
    const directory = absolutePath(path, '..');
    if (!files.find(directory)) {
      files.makeDirectory(directory, { parents: true });
      made.add(directory);
    }
    if (files.find(path)) files.remove(path);
    write(files, path, data).readOnly = true;
  }
  for (const directory of made) files.directory(directory).readOnly = true;
}
