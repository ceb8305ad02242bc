// `control-plane-process.ts NAME member|host`: a real control plane beside a document, its kubeconfig at NAME.kubeconfig.
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane } from '../cluster/control-plane.ts';
import { HUB_CONTROLLERS, MEMBER_CONTROLLERS } from '../cluster/control-plane-controllers.ts';
import type { RunFolder } from '../cluster/run-folder.ts';

const [name = '', role] = process.argv.slice(2);
await using run = await documentFolder();
await using controlPlane = await ControlPlane.start(run, {
  name,
  controllers: role === 'host' ? HUB_CONTROLLERS : MEMBER_CONTROLLERS,
});
await copyFile(controlPlane.kubeconfig, `${name}.kubeconfig`);
process.stdout.write(`ready ${controlPlane.server}\n`);
await once(process, 'SIGTERM');

/**
 * A folder below the document's own. `RunFolder.open` is for processes that see all others: in a PID namespace, as this may be in,
 * it would take the folders and cgroups of every run outside for left over, and remove them.
 */
async function documentFolder(): Promise<RunFolder> {
  const path = await mkdtemp(join(tmpdir(), 'control-plane-'));
  return {
    path,
    name: path.slice(path.lastIndexOf('/') + 1),
    folder: async (...names) => {
      const folder = join(path, ...names);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return folder;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }),
  };
}
