import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { DEPLOYMENTS, NAMESPACES } from '@asterism/machinery';
import { benchDeployment, NAMESPACE } from './bench-deployment.ts';
import { DeploymentsSeen } from './deployments-seen.ts';

async function started(): Promise<TestServer> {
  const server = await startTestServer();
  await server.client
    .resource(NAMESPACES)
    .create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  return server;
}

test('DeploymentsSeen: when it stands, and when so many replicas of its generation are ready', async () => {
  await using server = await started();
  await using seen = await DeploymentsSeen.open(server.client, 'hub', new AbortController().signal);
  const deployments = server.client.resource(DEPLOYMENTS);

  const before = performance.now();
  const standing = seen.standing('a');
  const created = await deployments.create(benchDeployment('a', 'all'));
  const at = await standing;
  assert.ok(at >= before && at <= performance.now());
  assert.equal(await seen.standing('a'), at, 'the first time counts');

  let ready = false;
  const untilReady = seen.ready('a', 2).then(() => (ready = true));
  const report = async (observedGeneration: number, readyReplicas: number): Promise<void> => {
    const status = { observedGeneration, replicas: 2, readyReplicas };
    await deployments.patch(
      { namespace: NAMESPACE, name: 'a' },
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
  };
  await report(0, 2);
  await report(created.metadata?.generation ?? 0, 1);
  await deployments.create(benchDeployment('b', 'all'));
  await seen.standing('b'); // What came before has been seen, then.
  assert.equal(ready, false);
  await report(created.metadata?.generation ?? 0, 2);
  await untilReady;
  await seen.ready('a', 2);
});

test('DeploymentsSeen: who waits is told when it is stopped, or when the server goes', async () => {
  await using server = await started();
  const abort = new AbortController();
  await using seen = await DeploymentsSeen.open(server.client, 'hub', abort.signal);
  const waits = Promise.allSettled([seen.standing('never'), seen.ready('never', 1)]);
  abort.abort(new Error('stopped'));
  for (const wait of await waits) assert.match(String(wait.status === 'rejected' && wait.reason), /stopped/);

  const other = await DeploymentsSeen.open(server.client, 'hub', new AbortController().signal);
  const lost = other.standing('never');
  await Promise.all([assert.rejects(lost, /watch of Deployments/), server.stop()]);
  await other[Symbol.asyncDispose]();
});
