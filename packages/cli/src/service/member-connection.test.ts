import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { inClusterConnection } from '@asterism/client';
import { CommandError, EXIT } from '../exit-code.ts';
import { endpointOf, memberConnection } from './member-connection.ts';

describe("an agent's own cluster", () => {
  let dir: string;
  const isUsage = (message: RegExp) => (error: unknown) =>
    error instanceof CommandError && error.exitCode === EXIT.usage && message.test(error.message);
  const noPod = () => inClusterConnection({ env: {} });
  const pod = () =>
    inClusterConnection({
      env: { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' },
      folder: dir,
    });

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'asterism-member-'));
    await writeFile(join(dir, 'ca.crt'), 'PEM');
    const entry = (name: string) => ({
      clusters: { name, cluster: { server: `https://${name}:6443` } },
      contexts: { name, context: { cluster: name, user: 'agent' } },
    });
    const [edge, core] = [entry('edge'), entry('core')];
    await writeFile(
      join(dir, 'kubeconfig'),
      JSON.stringify({
        'current-context': 'edge',
        clusters: [edge.clusters, core.clusters],
        contexts: [edge.contexts, core.contexts],
        users: [{ name: 'agent', user: { tokenFile: 'token' } }],
      }),
    );
  });
  after(() => rm(dir, { recursive: true }));

  test('is that of the kubeconfig; a token file stays a file, since it is renewed', async () => {
    const kubeconfig = join(dir, 'kubeconfig');
    assert.deepEqual(await memberConnection({ kubeconfig }, pod), {
      connection: { server: 'https://edge:6443', credential: { kind: 'tokenFile', path: join(dir, 'token') } },
      inPod: false,
    });
    const core = await memberConnection({ kubeconfig, context: 'core' }, noPod);
    assert.deepEqual(endpointOf(core, { endpoint: undefined, syncMode: 'Push' }), { server: 'https://core:6443' });
  });

  test("is the pod's without one; the hub cannot dial the address that a pod knows", async () => {
    const member = await memberConnection({}, pod);
    assert.deepEqual(member, {
      connection: {
        server: 'https://10.96.0.1:443',
        caData: 'PEM',
        credential: { kind: 'tokenFile', path: join(dir, 'token') },
      },
      inPod: true,
    });
    assert.throws(
      () => endpointOf(member, { endpoint: undefined, syncMode: 'Push' }),
      isUsage(/--endpoint: .*https:\/\/10\.96\.0\.1:443 leads to it only inside/),
    );
    assert.deepEqual(endpointOf(member, { endpoint: 'https://edge', syncMode: 'Push' }), { server: 'https://edge' });
    assert.deepEqual(endpointOf(member, { endpoint: 'https://edge', caBundle: 'OTHER', syncMode: 'Push' }), {
      server: 'https://edge',
      caBundle: 'OTHER',
    });
    assert.equal(endpointOf(member, { endpoint: undefined, syncMode: 'Pull' }), undefined);
  });

  test('has to be named elsewhere', async () => {
    await assert.rejects(memberConnection({}, noPod), isUsage(/^which cluster\? .*--kubeconfig.*not in a pod/));
    await assert.rejects(memberConnection({ context: 'edge' }, pod), isUsage(/--context: says nothing without/));
  });
});
