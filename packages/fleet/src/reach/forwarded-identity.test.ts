import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { UserInfo } from '@asterism/apiserver';
import type { Headers } from '@asterism/client';
import { readCaller } from './caller-header.ts';
import type { Callers } from './callers.ts';
import { requestHeaders, responseHeaders } from './forwarded-headers.ts';
import { forwardedIdentity } from './forwarded-identity.ts';

describe('who a caller of the hub is in a member', () => {
  const anybody: Callers = { users: [], groups: ['admins, all', 'asterism:admins', 'team a'], anyUser: true };
  const rows: {
    name: string;
    user: UserInfo;
    callers?: Callers;
    expect: ReturnType<typeof forwardedIdentity> | RegExp;
  }[] = [
    {
      name: 'itself, with its groups',
      user: { username: 'ann', groups: ['team a', 'admins, all'] },
      expect: { user: 'ann', groups: ['team a', 'admins, all'] },
    },
    {
      name: 'the power it has in the hub stays there',
      user: {
        username: 'admin',
        groups: ['system:masters', 'system:authenticated', 'asterism:admins', 'system:nodes'],
      },
      expect: { user: 'admin', groups: ['asterism:admins'] },
    },
    {
      name: 'a group that nobody named for this cluster stays behind',
      user: { username: 'ann', groups: ['team a', 'payroll'] },
      expect: { user: 'ann', groups: ['team a'] },
    },
    {
      name: 'one who is named comes',
      user: { username: 'ann', groups: ['team a'] },
      callers: { users: ['ann'], groups: [], anyUser: false },
      expect: { user: 'ann', groups: [] },
    },
    {
      name: 'what the hub says of how it knew the caller stays behind',
      user: { username: 'ann', groups: [], extra: { 'authentication.kubernetes.io/node-name': ['n'], scopes: ['a'] } },
      expect: { user: 'ann', groups: [], extra: { scopes: ['a'] } },
    },
    {
      name: 'uid and extra come along',
      user: { username: 'ann', groups: [], uid: 'u-1', extra: { 'example.org/scopes': ['a', 'b'] } },
      expect: { user: 'ann', groups: [], uid: 'u-1', extra: { 'example.org/scopes': ['a', 'b'] } },
    },
    {
      name: 'a name of any script comes along as it is',
      user: { username: '山田', groups: ['team a'], extra: Object.fromEntries([['__proto__', ['é']]]) },
      expect: { user: '山田', groups: ['team a'], extra: Object.fromEntries([['__proto__', ['é']]]) },
    },
    ...[' u1', 'u1\t', ' system:kube-controller-manager', 'u\u007f1', 'u\ud800'].map((username) => ({
      name: `${JSON.stringify(username)} would arrive as another name`,
      user: { username, groups: [] },
      expect: /unchanged/,
    })),
    { name: 'so would a uid', user: { username: 'ann', groups: [], uid: 'u ' }, expect: /uid "u "/ },
    { name: 'so would an extra', user: { username: 'ann', groups: [], extra: { a: [' v'] } }, expect: /extra value/ },
    {
      name: 'so would an extra key',
      user: { username: 'ann', groups: [], extra: { A: ['v'] } },
      expect: /extra key "A"/,
    },
    {
      name: 'a service account of the hub is nobody in a member',
      user: { username: 'system:serviceaccount:default:default', groups: [] },
      expect: /system:serviceaccount:default:default/,
    },
    {
      name: 'nor is an anonymous caller',
      user: { username: 'system:anonymous', groups: [] },
      expect: /system:anonymous/,
    },
    { name: 'nor a bootstrap token', user: { username: 'system:bootstrap:abcdef', groups: [] }, expect: /bootstrap/ },
    { name: 'nor one without a name', user: { username: '', groups: [] }, expect: /""/ },
  ];
  for (const { name, user, callers = anybody, expect } of rows) {
    test(name, () => {
      const identity = forwardedIdentity(user, callers);
      if (expect instanceof RegExp) assert.match('refused' in identity ? identity.refused : '', expect);
      else assert.deepEqual(identity, expect);
    });
  }
});

describe('the headers of a call', () => {
  const identity = { user: 'ann', groups: ['a', 'b, c'], uid: 'u-1', extra: { 'Example.org/(x)': ['1', '2'] } };
  const own = {
    'impersonate-user': 'ann',
    'impersonate-uid': 'u-1',
    'impersonate-group': ['a', 'b, c'],
    'impersonate-extra-example.org%2f%28x%29': ['1', '2'],
  };
  const rows: { name: string; headers: Headers; upgrade?: boolean; expect: Headers }[] = [
    {
      name: 'what is about the content goes on as it came',
      headers: {
        accept: 'application/json',
        'content-type': 'text/x',
        'content-length': '3',
        'accept-encoding': 'gzip',
      },
      expect: {
        accept: 'application/json',
        'content-type': 'text/x',
        'content-length': '3',
        'accept-encoding': 'gzip',
        ...own,
      },
    },
    {
      name: 'credentials and claims of the caller stay behind',
      headers: {
        authorization: 'Bearer secret',
        cookie: 'session=1',
        'impersonate-user': 'root',
        'impersonate-group': ['system:masters'],
        'impersonate-uid': '0',
        'impersonate-extra-scopes': 'all',
        'x-remote-user': 'root',
        'x-remote-group': 'system:masters',
        'x-remote-extra-y': 'z',
      },
      expect: own,
    },
    {
      name: 'what belongs to one connection stays behind',
      headers: {
        ':authority': 'hub',
        host: 'hub',
        connection: 'keep-alive, X-Private',
        'x-private': '1',
        expect: '100-continue',
        'keep-alive': '5',
        te: 'trailers',
        'transfer-encoding': 'chunked',
        upgrade: 'h2c',
      },
      expect: own,
    },
    {
      name: 'an upgrade keeps its protocol',
      headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': ['v4', 'v3'] },
      upgrade: true,
      expect: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': ['v4', 'v3'], ...own },
    },
  ];
  for (const { name, headers, upgrade = false, expect } of rows) {
    test(name, () => assert.deepEqual(requestHeaders(headers, identity, { upgrade, tunnelled: false }), expect));
  }

  test('an agent is told whose call it is, in a header that no caller can send', () => {
    const headers = { 'impersonate-user': 'root', 'asterism-caller': 'forged', 'asterism-x': 'y', accept: 'a' };
    const forwarded = requestHeaders(headers, identity, { upgrade: false, tunnelled: true });
    assert.deepEqual(Object.keys(forwarded).toSorted(), ['accept', 'asterism-caller', 'impersonate-user']);
    // An agent of before that header takes the call for this user's, and not for the hub's own.
    assert.equal(forwarded['impersonate-user'], identity.user);
    assert.deepEqual(readCaller(forwarded['asterism-caller']), identity);
  });

  test('hole 7: a token among the protocols of a WebSocket is a credential and stays behind', () => {
    const protocols = 'base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io';
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': protocols };
    const forwarded = requestHeaders(headers, identity, { upgrade: true, tunnelled: true });
    assert.equal(forwarded['sec-websocket-protocol'], 'v5.channel.k8s.io');
  });

  test('of an answer the caller gets all but what belongs to one connection', () => {
    const headers = {
      ':status': '200',
      'content-encoding': 'gzip',
      connection: 'close',
      'set-cookie': ['a'],
      warning: 'w',
    };
    assert.deepEqual(responseHeaders(headers), { 'content-encoding': 'gzip', warning: 'w' });
  });
});
