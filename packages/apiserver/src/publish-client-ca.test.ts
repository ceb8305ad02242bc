import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConfigMap } from '@asterism/machinery';
import { publishClientCa } from './publish-client-ca.ts';
import { openTestRegistry } from './registry/test-registry.ts';

const USER = { username: 'system:apiserver', groups: [] };
const NAME = 'extension-apiserver-authentication';

function certificate(text: string): string {
  return `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
}

describe('what servers beside this one are told of its authorities', () => {
  for (const [what, bundles, expected] of [
    ['one', [['A']], ['A']],
    ['that of a restart is the same', [['A'], ['A']], ['A']],
    ['a new one joins what others may trust', [['A'], ['B']], ['A', 'B']],
    [
      'each of a bundle, once',
      [
        ['A', 'B'],
        ['B', 'C'],
      ],
      ['A', 'B', 'C'],
    ],
  ] as const) {
    test(what, async () => {
      await using t = await openTestRegistry();
      await t.create('v1/namespaces', { metadata: { name: 'kube-system' } });
      const pem = (names: readonly string[]) => names.map(certificate).join('');
      for (const bundle of bundles) await publishClientCa(t.registry, USER, pem(bundle));
      const found = await t.registry.get(t.resource('v1/configmaps'), { namespace: 'kube-system', name: NAME });
      const { data } = found.parse() as ConfigMap;
      assert.deepEqual(data, { 'client-ca-file': pem(expected) });
    });
  }
});
