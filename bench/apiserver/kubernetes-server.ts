import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ControlPlane } from '../../test/cluster/control-plane.ts';
import { RunFolder } from '../../test/cluster/run-folder.ts';
import { realBinary } from '../harness/real-binary.ts';
import type { LoadTarget } from '../load/load-message.ts';
import { KUBERNETES, KUBERNETES_NO_FSYNC } from './figures.ts';
import { ADMIN, type ServerUnderTest, startCost, USER } from './server-under-test.ts';

const READY_MS = 60_000;

/**
 * Starts the real kube-apiserver with an etcd of its own: TLS with a key of the same kind as ours, tokens, RBAC (the Node
 * authorizer before it has nothing to say of who is no node), and all its defaults but for the ServiceAccount admission, which
 * needs kube-controller-manager and which ours does not have.
 *
 * @throws {MissingBinary} where there are no binaries.
 */
export async function startKubernetesServer(
  fsync: 'fsync' | 'no fsync',
  { signal }: { signal: AbortSignal },
): Promise<ServerUnderTest> {
  for (const name of ['etcd', 'kube-apiserver']) realBinary(name);
  await using stack = new AsyncDisposableStack();
  const run = stack.use(await RunFolder.open());
  const tokens = { admin: randomUUID(), user: randomUUID() };
  const tokenFile = join(await run.folder('tokens'), 'tokens.csv');
  await writeFile(tokenFile, `${line(tokens.admin, ADMIN)}\n${line(tokens.user, USER)}\n`, { mode: 0o600 });
  const apiServer = [`--token-auth-file=${tokenFile}`, '--disable-admission-plugins=ServiceAccount'];
  const controlPlane = stack.use(
    await ControlPlane.prepare(run, {
      name: 'baseline',
      fsync: fsync === 'fsync',
      controllers: 'none',
      flags: { etcd: ['--log-level=error'], apiServer },
    }),
  );
  const started = performance.now();
  await controlPlane.startAgain(AbortSignal.any([signal, AbortSignal.timeout(READY_MS)]));
  const pids = await Promise.all(controlPlane.daemons.map((daemon) => daemon.pid()));
  const admin: LoadTarget = { url: controlPlane.server, ca: controlPlane.pki.ca.cert, token: tokens.admin };
  const start = startCost(pids, started);
  const running = stack.move();
  return {
    name: fsync === 'fsync' ? KUBERNETES : KUBERNETES_NO_FSYNC,
    admin,
    user: { ...admin, token: tokens.user },
    pids,
    start,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A user as a token file has it. */
function line(token: string, { username, groups }: typeof ADMIN): string {
  return `${token},${username},${username},"${groups.join(',')}"`;
}
