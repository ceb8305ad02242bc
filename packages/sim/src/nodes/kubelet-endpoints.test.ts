import assert from 'node:assert/strict';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { Connection } from '@asterism/client';
import { NODES, type Pod, PODS } from '@asterism/machinery';
import { TestMember } from '../testing/test-member.ts';

describe('the kubelets of a member', () => {
  let member: TestMember;
  let ports: Map<string, number>;
  let tls: { ca: string; cert: string; key: string };

  const ask = async (node: string, path: string, options: object = tls): Promise<[number, string]> => {
    const { promise, resolve, reject } = Promise.withResolvers<[number, string]>();
    const port = ports.get(node);
    request({ host: '127.0.0.1', port, path, agent: false, ...options }, (response) => {
      text(response).then((body) => resolve([response.statusCode ?? 0, body]), reject);
    })
      .on('error', reject)
      .end();
    return await promise;
  };

  before(async () => {
    member = await TestMember.start({ kubeletEndpoint: { host: '127.0.0.1' } });
    tls = certificateOf(member.admin);
    const pod: Pod = {
      metadata: { name: 'web', namespace: 'default' },
      spec: {
        nodeName: 'node-2',
        containers: [{ name: 'app', image: 'busybox', command: ['sh', '-c', 'echo up; sleep 600'] }],
      },
    };
    await member.client.resource(PODS).create(pod);
    await member.until(PODS, (pods) => pods[0]?.status?.phase === 'Running');
    const { items } = await member.client.resource(NODES).list();
    assert.deepEqual(new Set(items.map(({ status }) => status?.addresses?.[0]?.address)), new Set(['127.0.0.1']));
    ports = new Map(
      items.map(({ metadata, status }) => [metadata?.name ?? '', status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0]),
    );
  });

  after(() => member?.[Symbol.asyncDispose]());

  test('serve the containers of their own node', async () => {
    assert.deepEqual(await ask('node-2', '/containerLogs/default/web/app'), [200, 'up\n']);
    assert.equal((await ask('node-1', '/containerLogs/default/web/app'))[0], 404);
    const summary = JSON.parse((await ask('node-2', '/stats/summary'))[1]) as { pods: { podRef: { name: string } }[] };
    assert.deepEqual(
      summary.pods.map(({ podRef }) => podRef.name),
      ['web'],
    );
  });

  test('let nobody in without a certificate', async () => {
    const [status] = await ask('node-2', '/pods', { ca: tls.ca });
    assert.equal(status, 401);
  });
});

function certificateOf({ caData = '', credential }: Connection): { ca: string; cert: string; key: string } {
  assert.ok(credential?.kind === 'certificate');
  return { ca: caData, cert: String(credential.cert), key: String(credential.key) };
}
