import assert from 'node:assert/strict';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient, createTransport } from '@asterism/client';
import { createSqliteStorage } from '../storage/sqlite-storage.ts';
import { startTestServer } from '../testing/test-server.ts';
import type { ConnectHandler } from '../http/extension/api-extension.ts';
import { WebhookServer } from './testing/webhook-server.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const ANYTHING = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];

test('a connection and a review are asked about too, and the metrics tell of it', async () => {
  await using webhook = await WebhookServer.start();
  webhook.on('/deny', () => ({ allowed: false, status: { message: 'no' } }));
  const connects: ConnectHandler[] = [
    { group: '', resource: 'pods', subresource: 'exec', handle: async () => assert.fail('it was not refused') },
  ];
  await using server = await startTestServer({ connects, controllers: false });
  const send = async (path: string, body: object): Promise<{ status: number; text: string }> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await server.client.request({ method: 'POST', path, headers, body: JSON.stringify(body) });
    return { status: answer.status, text: (await answer.body.toArray()).map(String).join('') };
  };
  const made = await send(CONFIGURATIONS, {
    metadata: { name: 'a' },
    webhooks: [webhook.webhook('/deny', { rules: ANYTHING })],
  });
  assert.equal(made.status, 201, made.text);
  const exec = await send('/api/v1/namespaces/default/pods/web/exec?command=ls&command=-l&stdin=true', {});
  assert.match(exec.text, /admission webhook \\"deny.example.com\\" denied the request: no/);
  const { request } = webhook.asked.at(-1)!;
  assert.deepEqual(request.object, { kind: 'PodExecOptions', apiVersion: 'v1', stdin: true, command: ['ls', '-l'] });
  assert.deepEqual(
    [request.operation, request.subResource, request.name, request.kind.kind],
    ['CONNECT', 'exec', 'web', 'PodExecOptions'],
  );
  const review = await send('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: {} });
  assert.equal(review.status, 400, review.text);
  const metrics = await server.client.request({ method: 'GET', path: '/metrics' });
  const text = (await metrics.body.toArray()).map(String).join('');
  assert.match(
    text,
    /apiserver_admission_webhook_rejection_count\{name="deny.example.com",type="validating",operation="CONNECT"/,
  );
});

test('a server starts beside a webhook that is away, so that somebody can take its configuration away', async () => {
  await using webhook = await WebhookServer.start();
  await using folder = await mkdtempDisposable(join(tmpdir(), 'asterism-webhooks-'));
  const file = join(folder.path, 'test.db');
  {
    await using server = await startTestServer({ storage: createSqliteStorage({ file }) });
    const body = JSON.stringify({
      metadata: { name: 'a' },
      webhooks: [webhook.webhook('/nobody', { rules: ANYTHING, timeoutSeconds: 1 })],
    });
    const headers = { 'content-type': 'application/json' };
    await server.client.request({ method: 'POST', path: CONFIGURATIONS, headers, body });
  }
  await using server = await startTestServer({ storage: createSqliteStorage({ file }) });
  const client = createClient({ transport: createTransport(server.connection), userAgent: 'test' });
  const { status } = await client.request({ method: 'DELETE', path: `${CONFIGURATIONS}/a` });
  assert.equal(status, 200);
  await client.transport.close();
});
