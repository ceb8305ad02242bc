import { writeFile } from 'node:fs/promises';
import { Agent } from 'node:https';
import { join } from 'node:path';
import type { Target } from '../conformance/send-request.ts';
import { ControlPlane } from '../cluster/control-plane.ts';
import { RunFolder } from '../cluster/run-folder.ts';
import { type ComparedUser, SERVICE_RANGE, USERS } from './settings.ts';

export interface ComparedServer extends AsyncDisposable {
  target: Target;
}

/** etcd and kube-apiserver 1.20 with the settings of both servers; no controller works on the objects. */
export async function startRealServer(users: readonly ComparedUser[] = USERS): Promise<ComparedServer> {
  await using stack = new AsyncDisposableStack();
  const run = stack.use(await RunFolder.open());
  const tokens = join(await run.folder('tokens'), 'tokens.csv');
  const lines = users.map(({ token, username, uid, groups }) =>
    [token, username, uid, ...(groups.length > 0 ? [`"${groups.join(',')}"`] : [])].join(','),
  );
  await writeFile(tokens, `${lines.join('\n')}\n`, { mode: 0o600 });
  const plane = stack.use(
    await ControlPlane.start(run, {
      name: 'real',
      controllers: 'none',
      flags: {
        apiServer: [
          `--token-auth-file=${tokens}`,
          '--disable-admission-plugins=ServiceAccount',
          `--service-cluster-ip-range=${SERVICE_RANGE}`,
          '--endpoint-reconciler-type=none',
          '--allow-privileged=true',
        ],
      },
    }),
  );
  const { hostname, port } = new URL(plane.server);
  const agent = new Agent({ keepAlive: true });
  stack.defer(() => agent.destroy());
  const owned = stack.move();
  return {
    target: { host: hostname, port: Number(port), ca: plane.pki.ca.cert, agent },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
