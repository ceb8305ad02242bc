import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseRepresentation } from './representation.ts';

const TABLE_V1 = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const CASES: [accept: string | undefined, offered: 'Table' | 'APIGroupDiscoveryList', chosen: object][] = [
  [undefined, 'Table', { as: 'JSON' }],
  ['*/*', 'Table', { as: 'JSON' }],
  [
    `${TABLE_V1},application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json`,
    'Table',
    { as: 'Table', version: 'v1' },
  ],
  ['application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'Table', { as: 'Table', version: 'v1beta1' }],
  ['application/json;as=Table;v=v9;g=meta.k8s.io,application/json', 'Table', { as: 'JSON' }],
  ['application/vnd.kubernetes.protobuf,application/json', 'Table', { as: 'JSON' }],
  [`application/json;q=0.1,${TABLE_V1};q=0.9`, 'Table', { as: 'Table', version: 'v1' }],
  [`${TABLE_V1},application/json`, 'APIGroupDiscoveryList', { as: 'JSON' }],
  [`${AGGREGATED},application/json`, 'APIGroupDiscoveryList', { as: 'APIGroupDiscoveryList' }],
];

for (const [accept, offered, chosen] of CASES) {
  test(`${accept} of ${offered}`, () => assert.deepEqual(chooseRepresentation(accept, offered), chosen));
}

test('nothing that there is: 406', () => {
  for (const accept of ['application/yaml', 'application/json;q=0', TABLE_V1.replace('Table', 'Chart')]) {
    assert.throws(() => chooseRepresentation(accept, 'Table'), { code: 406 });
  }
});
