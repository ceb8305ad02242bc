import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Client, readBody, type TransportRequest } from '@asterism/client';
import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES } from '@asterism/machinery';
import { destinationProxyPath, memberProxyPath } from '../api/index.ts';
import { NO_CALLERS } from './callers.ts';
import { RecordingHub } from './testing/recording-hub.ts';

const API = '/apis/proxy.asterism.dev/v1alpha1';
const MEMBER = memberProxyPath('edge-1').slice(API.length);
const OTHER = destinationProxyPath('edge-1', 'https://other:443').slice(API.length);
const PODS = '/api/v1/namespaces/a/pods';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const RBAC = 'rbac.authorization.k8s.io';

/** The user may get, list and watch everything: nothing but GET and HEAD goes on, however the path is written. */
describe('the method that goes on is the one that was authorized', () => {
  let recording: RecordingHub;
  let sent: TransportRequest[];
  let reader: Client;

  before(async () => {
    recording = await RecordingHub.start({ callers: { ...NO_CALLERS, anyUser: true } });
    const { server: hub } = recording;
    sent = recording.sent;
    const role = { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata: { name: 'reader' } } as const;
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['get', 'list', 'watch'] }];
    await hub.client.resource(CLUSTER_ROLES).create({ ...role, rules });
    await hub.client.resource(CLUSTER_ROLE_BINDINGS).create({
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name: 'reader' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'reader' },
      subjects: [{ apiGroup: RBAC, kind: 'User', name: 'ann' }],
    });
    reader = hub.clientAs({ username: 'ann', groups: [] });
  });
  after(() => recording?.[Symbol.asyncDispose]());

  for (const way of [MEMBER, OTHER]) {
    for (const prefix of ['', '/watch', '/%77atch', '//watch', '/watch/watch']) {
      for (const query of ['', '?watch=1']) {
        test(`${prefix}${way.slice(0, 20)}…${query}`, async () => {
          for (const method of METHODS) {
            sent.length = 0;
            const path = `${API}${prefix}${way}${PODS}${query}`;
            const headers = {
              'x-http-method-override': 'DELETE',
              'x-http-method': 'DELETE',
              'x-method-override': 'DELETE',
            };
            const { status, body } = await reader.request({ method, path, headers });
            await readBody(body, path);
            const passes = prefix === '' && (method === 'GET' || method === 'HEAD');
            assert.deepEqual([status === 200, sent.length], [passes, passes ? 1 : 0], `${method}: ${status}`);
            const told = Object.keys(sent[0]?.headers ?? {}).filter((name) => name.includes('method'));
            assert.deepEqual(told, []);
          }
        });
      }
    }
    test(`an upgrade by POST: ${way.slice(0, 20)}…`, async () => {
      for (const prefix of ['', '/watch', '/%77atch']) {
        sent.length = 0;
        const path = `${API}${prefix}${way}${PODS}?watch=1`;
        const headers = { connection: 'Upgrade', upgrade: 'websocket' };
        const answer = await reader.transport.upgrade({ method: 'POST', path, headers });
        if (!('socket' in answer)) await readBody(answer.body, path);
        assert.deepEqual([answer.status >= 400, sent.length], [true, 0], prefix);
      }
    });
  }
});
