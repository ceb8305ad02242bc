import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { proxyFromEnvironment } from './proxy-from-environment.ts';

/** Rows as in the tests of Go's httpproxy, and what they leave open. */
const rows: [noProxy: string, server: string, proxied: boolean][] = [
  ['', 'https://example.org', true],
  ['', 'https://localhost:6443', false],
  ['', 'https://127.0.0.1', false],
  ['', 'https://127.1.2.3:6443', false],
  ['', 'https://[::1]:6443', false],
  ['', 'https://[::ffff:127.0.0.1]', false],
  ['', 'https://[::2]', true],
  ['', 'https://127.0.0.1.example.org', true],
  ['*', 'https://example.org', false],
  ['*', 'https://192.168.1.1', false],
  ['other.org,*', 'https://example.org', false],
  ['example.org', 'https://example.org', false],
  ['example.org', 'https://example.org:6443', false],
  ['example.org', 'https://hub.example.org', false],
  ['example.org', 'https://myexample.org', true],
  ['EXAMPLE.org', 'https://Example.ORG', false],
  ['.example.org', 'https://hub.example.org', false],
  ['.example.org', 'https://example.org', true],
  ['*.example.org', 'https://a.b.example.org', false],
  ['*.example.org', 'https://example.org', true],
  [' example.org , other.org ', 'https://other.org', false],
  ['example.org:6443', 'https://example.org:6443', false],
  ['example.org:6443', 'https://hub.example.org:6443', false],
  ['example.org:6443', 'https://example.org', true],
  ['example.org:443', 'https://example.org', false],
  ['.example.org:443', 'https://example.org', true],
  ['example.org:', 'https://example.org:6443', false],
  ['10.0.0.0/8', 'https://10.200.1.1:6443', false],
  ['10.0.0.7/8', 'https://10.200.1.1', false],
  ['10.0.0.0/8', 'https://11.0.0.1', true],
  ['10.0.0.0/8', 'https://[::ffff:10.1.1.1]', false],
  ['10.0.0.0/33', 'https://10.0.0.1', true],
  ['fd00::/8', 'https://[fd12::1]:6443', false],
  ['fd00::/8', 'https://[fe80::1]', true],
  ['192.168.1.1', 'https://192.168.1.1:6443', false],
  ['192.168.1.1:6443', 'https://192.168.1.1:6443', false],
  ['192.168.1.1:6443', 'https://192.168.1.1', true],
  ['fd00::1', 'https://[fd00::1]:6443', false],
  ['[fd00::1]:6443', 'https://[fd00::1]:6443', false],
  ['[fd00::1]:6443', 'https://[fd00::1]', true],
  ['[fd00::1]', 'https://[fd00::1]', true],
  ['1.168.192.in-addr.arpa,168.1.1', 'https://192.168.1.1', true],
  ['münchen.example', 'https://xn--mnchen-3ya.example', false],
  [',, ,:443,.', 'https://example.org', true],
];

describe('NO_PROXY', () => {
  for (const [noProxy, server, proxied] of rows) {
    test(`"${noProxy}" and ${server}: ${proxied ? 'by the proxy' : 'directly'}`, () => {
      const env = { HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: noProxy };
      assert.equal(proxyFromEnvironment(server, env), proxied ? env.HTTPS_PROXY : undefined);
    });
  }
});
