import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { structuralSchema } from '../schema/custom-resource-schema.ts';
import type { OpenApiSchema } from '../schema/open-api-schema.ts';
import { ElementError, formatPath, itemElement } from './path-element.ts';

const SET: OpenApiSchema = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
const PORTS: OpenApiSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['port', 'protocol'],
  items: {
    type: 'object',
    properties: { port: { type: 'integer' }, protocol: { type: 'string', default: 'TCP' }, name: { type: 'string' } },
  },
};
const HOSTS: OpenApiSchema = {
  ...PORTS,
  'x-kubernetes-list-map-keys': ['host'],
  items: { type: 'object', properties: { host: { type: 'string' } } },
};

describe('how items of lists are identified', () => {
  const rows: [list: OpenApiSchema, item: unknown, element: string][] = [
    [SET, 'a', 'v:"a"'],
    [SET, 3, 'v:3'],
    [SET, true, 'v:true'],
    [SET, 'a<b>&"', 'v:"a\\u003cb\\u003e\\u0026\\""'],
    [PORTS, { protocol: 'UDP', port: 53, name: 'dns' }, 'k:{"port":53,"protocol":"UDP"}'],
    // A key that is absent has its default, and else is no part of the element.
    [PORTS, { port: 53 }, 'k:{"port":53,"protocol":"TCP"}'],
    [PORTS, {}, 'k:{"protocol":"TCP"}'],
    [HOSTS, { host: '' }, 'k:{"host":""}'],
  ];
  for (const [list, item, element] of rows) {
    test(`${JSON.stringify(item)} is ${element}`, () =>
      assert.equal(itemElement(item, structuralSchema(list)), element));
  }

  const faults: [list: OpenApiSchema, item: unknown, message: string][] = [
    [SET, {}, "associative list without keys has an element that's a map type"],
    [SET, [], 'not supported: associative list with lists as elements'],
    [SET, null, "associative list without keys has an element that's an explicit null"],
    [PORTS, null, 'associative list with keys may not have a null element'],
    [PORTS, 'a', 'associative list with keys may not have non-map elements'],
    [
      HOSTS,
      { name: 'a' },
      'associative list with keys has an element that omits all key fields ["host"] (and doesn\'t have default values for any key fields)',
    ],
  ];
  for (const [list, item, message] of faults) {
    test(`${JSON.stringify(item)}: ${message}`, () => {
      assert.throws(() => itemElement(item, structuralSchema(list)), new ElementError(message));
    });
  }
});

test('paths as messages show them', () => {
  const path = ['f:spec', 'f:ports', 'k:{"port":53,"protocol":"UDP"}', 'f:set', 'v:"a"', 'i:0', 'v:1.5', 'v:true'];
  assert.equal(formatPath(path), '.spec.ports[port=53,protocol="UDP"].set[="a"][0][=1.5][=true]');
});
