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
  ['application/json;q=0', { encoding: 'json' }],
  ['*/*, application/yaml', { encoding: 'yaml' }],
  ['*', { encoding: 'json' }],
  ['application/json;stream=watch', { encoding: 'json' }],
  ['application/json;stream=other', 406],
  ['application/json;g=meta.k8s.io;v=v1', 406],
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

const withProtobuf: Offer = {
  encodings: ['json', 'yaml', 'protobuf'],
  plain: ['json', 'yaml'],
  transforms: ['Table', 'PartialObjectMetadata'],
};
const custom: [accept: string, expect: Representation | 406][] = [
  ['application/vnd.kubernetes.protobuf', 406],
  ['application/vnd.kubernetes.protobuf, application/json', { encoding: 'json' }],
  [
    'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    { encoding: 'protobuf', as: 'PartialObjectMetadata', version: 'v1' },
  ],
  [`application/vnd.kubernetes.protobuf;${TABLE}`, 406],
];

for (const [accept, expect] of custom) {
  test(`of a custom resource, Accept: ${accept}`, () => {
    if (expect === 406) assert.throws(() => negotiate(accept, withProtobuf), { code: 406 });
    else assert.deepEqual(negotiate(accept, withProtobuf), expect);
  });
}

test('a refusal names what would be accepted', () => {
  assert.throws(() => negotiate('text/html', { encodings: ['json'], transforms: [], stream: true }), {
    message: 'only the following media types are accepted: application/json;stream=watch',
  });
});
