import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Headers } from '@asterism/client';
import { admitCall } from './admit-call.ts';
import { CALLER_HEADER, callerHeader } from './caller-header.ts';
import type { ReachMode } from './reach-mode.ts';

interface Row {
  name: string;
  method?: string;
  path?: string;
  headers?: Headers;
  upgrade?: boolean;
  syncMode?: 'Push' | 'Pull' | 'Dual';
  mode?: ReachMode;
  refused?: RegExp;
}

const as = (user: string, ...groups: string[]): Headers => callerHeader({ user, groups });
const claimed = { 'impersonate-user': 'root', 'impersonate-group': ['system:masters'], 'x-remote-user': 'root' };
const EXEC = '/api/v1/namespaces/a/pods/b/exec';
const own = /may only read/;

const rows: Row[] = [
  { name: 'a person reads', headers: as('ann') },
  { name: 'a person writes', method: 'DELETE', headers: as('ann', 'admins') },
  { name: 'a person goes into a pod', path: EXEC, headers: as('ann'), upgrade: true },
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
  { name: 'groups without a user', headers: as('', 'a'), refused: /no user/ },
  { name: 'a name beyond Latin-1 is a name', headers: as('šŤŭũŮ', '山田') },
  { name: 'a name that a receiver would trim to the system’s', headers: as(' system:admin'), refused: /unchanged/ },
  { name: 'a name with a tab at its end', headers: as('ann\t'), refused: /unchanged/ },
  { name: 'a name with a control character', headers: as('ann\u007f'), refused: /unchanged/ },
  { name: 'half a surrogate pair', headers: as('ann\ud800'), refused: /unchanged/ },
  { name: 'a group that a receiver would trim', headers: as('ann', ' system:masters'), refused: /unchanged/ },
  { name: 'a caller that nobody can read', headers: { [CALLER_HEADER]: 'e30' }, refused: /cannot be read/ },
  { name: 'two callers', headers: { [CALLER_HEADER]: ['e30', 'e30'] }, refused: /cannot be read/ },
  { name: 'identity: a claim that the hub did not make', headers: claimed, refused: /does not say whose/ },
  { name: 'identity: an extra alone', headers: { 'impersonate-extra-scopes': 'a' }, refused: /does not say whose/ },
  { name: 'readonly: reading', headers: as('ann'), mode: 'readonly' },
  { name: 'readonly: no writing', method: 'PATCH', headers: as('ann'), mode: 'readonly', refused: /"readonly"/ },
  { name: 'readonly: no exec', path: EXEC, headers: as('ann'), mode: 'readonly', refused: /"get pods\/exec"/ },
  { name: 'off: nothing', headers: as('ann'), mode: 'off', refused: /"off"/ },
  { name: 'off: the hub’s own reading is no caller’s', mode: 'off' },
  { name: 'destinations: another server', path: 'http://10.0.0.1/api', headers: as('ann'), refused: /begins with one/ },
  { name: 'destinations: another host', path: '//10.0.0.1/api', headers: as('ann'), refused: /begins with one/ },
  {
    name: 'destinations: CONNECT',
    method: 'CONNECT',
    path: '10.0.0.1:443',
    headers: as('ann'),
    refused: /begins with/,
  },
  { name: 'destinations: dots', path: '/api/v1/../../etc', headers: as('ann'), refused: /\. or \.\./ },
  { name: 'destinations: escaped dots', path: '/api/v1/%2E%2e/x', headers: as('ann'), refused: /\. or \.\./ },
  {
    name: 'destinations: dots behind an escaped slash',
    path: '/api/v1/a%2f..%2fb',
    headers: as('ann'),
    refused: /\.\./,
  },
  { name: 'destinations: a line break', path: '/api\r\nhost: x', headers: as('ann'), refused: /characters/ },
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
  { name: 'nor behind dots', path: '/api/v1/x/../namespaces/a/pods/b/exec', refused: /\.\./ },
  { name: 'nor behind escaped dots', path: '/api/v1/x/%2e%2e/namespaces', refused: /\.\./ },
  { name: 'nor behind doubled slashes', path: '/api/v1//namespaces/a/pods/b/exec', refused: /empty/ },
  { name: 'nor behind broken escapes', path: '/api/v1/%zz', refused: /percent/ },
];

describe('what an agent lets through its tunnel', () => {
  for (const row of rows) {
    test(row.name, () => {
      const request = {
        method: row.method ?? 'GET',
        path: row.path ?? '/api/v1/pods?limit=500',
        headers: row.headers ?? {},
      };
      const outcome = admitCall(request, {
        syncMode: row.syncMode ?? 'Pull',
        mode: row.mode ?? 'impersonate',
        upgrade: row.upgrade ?? false,
      });
      if (row.refused) assert.match('refused' in outcome ? outcome.refused : '', row.refused);
      else
        assert.deepEqual(
          'method' in outcome && [outcome.method, outcome.path],
          [request.method, request.path],
          JSON.stringify(outcome),
        );
    });
  }

  test('identity: the caller is impersonated; claims and credentials that came along are not passed on', () => {
    const caller = callerHeader({ user: 'ann', groups: ['a', 'b, c'], uid: 'u', extra: { 'x.y/Z': ['1', '2'] } });
    const headers = { ...caller, ...claimed, authorization: 'Bearer x', cookie: 'y', accept: 'application/json' };
    const options = { syncMode: 'Pull', mode: 'impersonate', upgrade: false } as const;
    const outcome = admitCall({ method: 'GET', path: '/api', headers }, options);
    assert.deepEqual('headers' in outcome ? outcome.headers : undefined, {
      accept: 'application/json',
      'impersonate-user': 'ann',
      'impersonate-group': ['a', 'b, c'],
      'impersonate-uid': 'u',
      'impersonate-extra-x.y%2fz': ['1', '2'],
    });
  });
});
