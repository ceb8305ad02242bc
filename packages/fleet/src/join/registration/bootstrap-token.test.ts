import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bootstrapTokenSecret } from './bootstrap-token.ts';

test('a token is the Secret that Kubernetes keeps tokens in, with what it promises as groups', () => {
  const token = { id: 'abcdef', token: 'abcdef.0123456789abcdef', expires: '2026-01-02T03:04:05Z' };
  const secret = bootstrapTokenSecret(token, { autoApprove: true, cluster: 'edge-1' });
  assert.equal(secret.type, 'bootstrap.kubernetes.io/token');
  assert.deepEqual(secret.metadata, { name: 'bootstrap-token-abcdef', namespace: 'kube-system' });
  const data = Object.fromEntries(
    Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]),
  );
  assert.deepEqual(data, {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    expiration: '2026-01-02T03:04:05Z',
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups':
      'system:bootstrappers:asterism:register,system:bootstrappers:asterism:auto-approve,system:bootstrappers:asterism:cluster:edge-1',
    description: 'Lets cluster edge-1 ask to join the fleet',
  });
});

test('a token that promises nothing lets a cluster ask, and no more', () => {
  const secret = bootstrapTokenSecret({ id: 'abcdef', token: 'abcdef.x', expires: '' }, {});
  const groups = Buffer.from(secret.data?.['auth-extra-groups'] ?? '', 'base64').toString();
  assert.equal(groups, 'system:bootstrappers:asterism:register');
});
