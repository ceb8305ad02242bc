import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Headers } from '@asterism/client';
import { admitCall } from './admit-call.ts';

interface Row {
  name: string;
  method?: string;
  path?: string;
  headers?: Headers;
  upgrade?: boolean;
  syncMode?: 'Push' | 'Pull' | 'Dual';
  refused?: RegExp;
}

const as = (user: string, ...groups: string[]): Headers => ({ 'impersonate-user': user, 'impersonate-group': groups });
const own = /may only read/;

const rows: Row[] = [
  { name: 'a person reads', headers: as('ann') },
  { name: 'a person writes', method: 'DELETE', headers: as('ann', 'admins') },
  { name: 'a person goes into a pod', path: '/api/v1/namespaces/a/pods/b/exec', headers: as('ann'), upgrade: true },
  { name: 'a person comes in Push too', headers: as('ann'), syncMode: 'Push' },
  { name: 'every caller is authenticated', headers: as('ann', 'system:authenticated') },
  { name: 'nobody is system:admin', headers: as('system:admin'), refused: /"system:admin"/ },
  {
    name: 'nobody is a service account of the member',
    headers: as('system:serviceaccount:kube-system:x'),
    refused: /serviceaccount/,
  },
  { name: 'nobody is system:masters', headers: as('ann', 'a', 'system:masters'), refused: /"system:masters"/ },
  { name: 'nobody is a node', headers: as('ann', 'system:nodes'), refused: /"system:nodes"/ },
  {
    name: 'one group only, not as a list',
    headers: { 'impersonate-user': 'ann', 'impersonate-group': 'system:masters' },
    refused: /"system:masters"/,
  },
  { name: 'groups without a user', headers: { 'impersonate-group': 'a' }, refused: /no user/ },
  { name: 'extras without a user', headers: { 'impersonate-extra-scopes': 'a' }, refused: /no user/ },
  { name: 'two users', headers: { 'impersonate-user': ['ann', 'bob'] }, refused: /no user/ },
  { name: 'the hub lists' },
  { name: 'the hub watches', path: '/apis/apps/v1/deployments?watch=1&resourceVersion=5' },
  { name: 'the hub reads an object', path: '/api/v1/namespaces/a/pods/exec' },
  { name: 'the hub discovers', path: '/apis/' },
  { name: 'the hub reads in Dual', syncMode: 'Dual' },
  { name: 'the hub does not write', method: 'POST', refused: own },
  { name: 'the hub does not delete', method: 'DELETE', path: '/api/v1/namespaces/a', refused: own },
  { name: 'the hub has a credential of its own in Push', syncMode: 'Push', refused: /credential of its own/ },
  { name: 'an upgrade is no reading', upgrade: true, refused: own },
  { name: 'exec by GET is no reading', path: '/api/v1/namespaces/a/pods/b/exec?command=sh', refused: own },
  { name: 'a proxy is no reading', path: '/api/v1/namespaces/a/services/b/proxy/admin', refused: own },
  { name: 'a node’s proxy is no reading', path: '/api/v1/nodes/n/proxy/run', refused: own },
  { name: 'port-forward is no reading', path: '/api/v1/namespaces/a/pods/b/portforward', refused: own },
  { name: 'nor is it behind escapes', path: '/api/v1/namespaces/a/pods/b/%65xec', refused: own },
  { name: 'nor behind an escaped slash', path: '/api/v1/namespaces/a/pods/b%2fexec', refused: own },
  { name: 'nor behind dots', path: '/api/v1/x/../namespaces/a/pods/b/exec', refused: own },
  { name: 'nor behind escaped dots', path: '/api/v1/x/%2e%2e/namespaces', refused: own },
  { name: 'nor behind doubled slashes', path: '/api/v1//namespaces/a/pods/b/exec', refused: own },
  { name: 'nor behind broken escapes', path: '/api/v1/%zz', refused: own },
];

describe('what an agent lets through its tunnel', () => {
  for (const row of rows) {
    test(row.name, () => {
      const request = {
        method: row.method ?? 'GET',
        path: row.path ?? '/api/v1/pods?limit=500',
        headers: row.headers ?? {},
      };
      const outcome = admitCall(request, { syncMode: row.syncMode ?? 'Pull', upgrade: row.upgrade ?? false });
      if (row.refused) assert.match('refused' in outcome ? outcome.refused : '', row.refused);
      else assert.deepEqual(outcome, request);
    });
  }

  test('a credential that came along is not passed on', () => {
    const headers = { ...as('ann'), authorization: 'Bearer x', cookie: 'y', accept: 'application/json' };
    const outcome = admitCall({ method: 'GET', path: '/api', headers }, { syncMode: 'Pull', upgrade: false });
    assert.deepEqual('headers' in outcome ? outcome.headers : undefined, { ...as('ann'), accept: 'application/json' });
  });
});
