import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { AUTHORITY, SERVER_CERT } from '@asterism/client/testing';
import type { Connection } from '@asterism/client';
import { isOtherCluster } from './is-other-cluster.ts';

const BEFORE: Connection = { server: 'https://a:6443', caData: AUTHORITY, credential: { kind: 'token', token: 't' } };

describe('isOtherCluster', () => {
  const rows: [name: string, change: Partial<Connection>, expected: boolean][] = [
    ['nothing changed', {}, false],
    ['a new token', { credential: { kind: 'token', token: 'u' } }, false],
    ['another kind of credential', { credential: { kind: 'tokenFile', path: '/t' } }, false],
    ['the same address, written otherwise', { server: 'https://A:6443/' }, false],
    ['another port', { server: 'https://a:6444' }, true],
    ['another path', { server: 'https://a:6443/clusters/b' }, true],
    ['an authority that was added', { caData: `${AUTHORITY}\n${SERVER_CERT}` }, false],
    ['the same authority, with other text around it', { caData: `# ours\n${AUTHORITY}\n` }, false],
    ['another authority', { caData: SERVER_CERT }, true],
    ['no authority any more', { caData: undefined }, false],
  ];
  for (const [name, change, expected] of rows) {
    test(name, () => assert.equal(isOtherCluster(BEFORE, { ...BEFORE, ...change }), expected));
  }
});
