import assert from 'node:assert/strict';
import { test } from 'node:test';
import { negotiate, type Offer, type Representation } from './negotiate.ts';

const offer: Offer = { encodings: ['json', 'yaml'], transforms: ['Table', 'PartialObjectMetadata'] };
const TABLE = 'as=Table;v=v1;g=meta.k8s.io';

const rows: [accept: string | undefined, expect: Representation | 406][] = [
  [undefined, { encoding: 'json' }],
  ['*/*', { encoding: 'json' }],
  ['application/*', { encoding: 'json' }],
  ['application/yaml', { encoding: 'yaml' }],
  ['application/yaml;q=0.5, application/json;q=0.9', { encoding: 'json' }],
  ['application/json;q=0, application/yaml', { encoding: 'yaml' }],
  ['text/html, */*;q=0.1', { encoding: 'json' }],
  [`application/json;${TABLE}, application/json`, { encoding: 'json', as: 'Table', version: 'v1' }],
  ['application/json;as=Table;g=meta.k8s.io;v=v1beta1', { encoding: 'json', as: 'Table', version: 'v1beta1' }],
  ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', { encoding: 'json' }],
  ['application/json;as=Table;v=v1;g=other', 406],
  ['application/json;as=Chair;v=v1;g=meta.k8s.io', 406],
  ['application/vnd.kubernetes.protobuf, application/json', { encoding: 'json' }],
  ['text/html', 406],
];

for (const [accept, expect] of rows) {
  test(`Accept: ${accept}`, () => {
    if (expect === 406) assert.throws(() => negotiate(accept, offer), { code: 406 });
    else assert.deepEqual(negotiate(accept, offer), expect);
  });
}

test('a refusal names what would be accepted', () => {
  assert.throws(() => negotiate('text/html', { encodings: ['json'], transforms: [], stream: true }), {
    message: 'only the following media types are accepted: application/json;stream=watch',
  });
});
