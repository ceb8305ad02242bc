import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeSwagger } from './encode-swagger.ts';

type Message = { id: number; value: number | Uint8Array }[];

/** Reads fields without knowing what they mean: numbers and bytes. */
function fieldsOf(bytes: Uint8Array): Message {
  const fields: Message = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const wireType = tag & 7;
    if (wireType === 0) fields.push({ id: tag >>> 3, value: varint() });
    else {
      const length = wireType === 1 ? 8 : varint();
      fields.push({ id: tag >>> 3, value: bytes.subarray(at, (at += length)) });
    }
  }
  return fields;
}

/** The fields at a path of numbers, the last as text, number or bytes of a double. */
function at(bytes: Uint8Array, ...path: number[]): unknown[] {
  const [id = 0, ...rest] = path;
  const found = fieldsOf(bytes).filter((field) => field.id === id);
  if (rest.length === 0) {
    return found.map(({ value }) => (typeof value === 'number' ? value : Buffer.from(value).toString()));
  }
  return found.flatMap(({ value }) => at(value as Uint8Array, ...rest));
}

const document = {
  swagger: '2.0',
  info: { title: 'Kubernetes', version: 'v1' },
  paths: {
    '/pods/{name}': {
      patch: {
        operationId: 'patchPod',
        consumes: ['application/json-patch+json'],
        parameters: [
          { name: 'body', in: 'body', required: true, schema: { $ref: '#/definitions/Patch' } },
          { name: 'dryRun', in: 'query', type: 'string', uniqueItems: true },
        ],
        responses: { '200': { description: 'OK', schema: { $ref: '#/definitions/Pod' } } },
        'x-kubernetes-action': 'patch',
      },
      parameters: [{ name: 'name', in: 'path', required: true, type: 'string' }],
    },
  },
  definitions: {
    Pod: {
      type: 'object',
      required: ['spec'],
      properties: {
        ports: { type: 'array', items: { type: 'integer', format: 'int32', maximum: 65535 } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        any: { additionalProperties: true },
      },
      'x-kubernetes-group-version-kind': [{ group: '', version: 'v1', kind: 'Pod' }],
    },
  },
};

const rows: [what: string, path: number[], expected: unknown[]][] = [
  ['the version of Swagger', [1], ['2.0']],
  ['the title', [2, 1], ['Kubernetes']],
  ['a path', [8, 2, 1], ['/pods/{name}']],
  ['an operation', [8, 2, 2, 8, 5], ['patchPod']],
  ['what it takes', [8, 2, 2, 8, 7], ['application/json-patch+json']],
  ['a parameter in the query', [8, 2, 2, 8, 8, 1, 2, 3, 4], ['dryRun']],
  ['its type', [8, 2, 2, 8, 8, 1, 2, 3, 6], ['string']],
  ['the body', [8, 2, 2, 8, 8, 1, 1, 5, 1], ['#/definitions/Patch']],
  ['a parameter in the path', [8, 2, 2, 9, 1, 2, 4, 4], ['name']],
  ['an answer', [8, 2, 2, 8, 9, 1, 1], ['200']],
  ['its schema', [8, 2, 2, 8, 9, 1, 2, 1, 2, 1, 1], ['#/definitions/Pod']],
  ['an extension, as YAML', [8, 2, 2, 8, 13, 2, 2], ['"patch"\n']],
  ['a definition', [9, 1, 1], ['Pod']],
  ['its type', [9, 1, 2, 22, 1], ['object']],
  ['what it requires', [9, 1, 2, 19], ['spec']],
  ['its properties', [9, 1, 2, 25, 1, 1], ['ports', 'labels', 'any']],
  ['the format of items', [9, 1, 2, 25, 1, 2, 23, 1, 2], ['int32']],
  ['what a map holds', [9, 1, 2, 25, 1, 2, 21, 1, 22, 1], ['string']],
  ['that a map holds anything', [9, 1, 2, 25, 1, 2, 21, 2], [1]],
  ['its kind, as YAML', [9, 1, 2, 31, 2, 2], ['[{"group":"","version":"v1","kind":"Pod"}]\n']],
];

for (const [what, path, expected] of rows) {
  test(`gnostic's document: ${what}`, async () => {
    assert.deepEqual(at(await encodeSwagger(document), ...path), expected);
  });
}
