import type { Clock } from '@asterism/client';
import type { RuntimeContainer } from './container-runtime.ts';
import { absolutePath, FileSystem } from './file-system.ts';

/** Bytes that the files of a container may have. */
const LIMIT = 1024 ** 3;
const DIRECTORIES = [
  '/bin',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/mnt',
  '/opt',
  '/proc',
  '/root',
  '/run',
  '/sbin',
  '/srv',
  '/sys',
  '/tmp',
  '/usr/bin',
  '/var/log',
  '/var/run',
];

/** The files that a container begins with, and those that are mounted into it. */
export function containerFiles(
  clock: Clock,
  namespace: string,
  container: RuntimeContainer,
  programs: Iterable<string>,
): FileSystem {
  const files = new FileSystem(() => clock.wall().getTime(), LIMIT);
  for (const path of DIRECTORIES) files.makeDirectory(path, { parents: true });
  files.directory('/tmp').mode = 0o1777;
  write(files, '/bin/busybox', '').mode = 0o755;
  for (const name of programs) files.makeLink('busybox', `/bin/${name}`);
  for (const device of ['null', 'zero', 'random', 'stdin', 'stdout', 'stderr', 'tty'] as const)
    files.makeDevice(device, `/dev/${device}`);
  files.makeDevice('random', '/dev/urandom');
  write(files, '/etc/hostname', `${container.hostname}\n`);
  write(
    files,
    '/etc/hosts',
    `# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n`,
  );
  const search = `${namespace}.svc.cluster.local svc.cluster.local cluster.local`;
  write(files, '/etc/resolv.conf', `search ${search}\nnameserver 10.96.0.10\noptions ndots:5\n`);
  write(files, '/etc/passwd', 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n');
  write(files, '/etc/group', 'root:x:0:\nnobody:x:65534:\n');
  write(files, '/etc/os-release', 'NAME="Asterism simulated container"\nID=asterism\n');
  for (const [path, node] of container.shared ?? []) files.mount(absolutePath('/', path), node);
  mount(files, container.files);
  files.makeDirectory(absolutePath('/', container.workingDir), { parents: true });
  return files;
}

function write(files: FileSystem, path: string, data: string | Uint8Array): { mode: number; readOnly: boolean } {
  const node = files.openToWrite(path);
  if (node.kind !== 'file') return { mode: node.mode, readOnly: false };
  files.append(node, Buffer.from(data));
  return node;
}

/** A directory that is there for mounted files alone is read-only as they are. */
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
