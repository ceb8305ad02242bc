import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { structuralSchema } from '../schema/custom-resource-schema.ts';
import type { FieldSet } from './field-set.ts';
import { fieldSetOf } from './to-field-set.ts';

const SCHEMA = structuralSchema({
  type: 'object',
  properties: {
    text: { type: 'string' },
    struct: { type: 'object', properties: { a: { type: 'string' } } },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    map: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: { type: 'object', properties: { name: { type: 'string' }, a: { type: 'integer' } } },
    },
    set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'integer' } },
    open: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { closed: { type: 'object', properties: { a: { type: 'string' } } } },
    },
  },
});

describe('the fields that an object states', () => {
  const rows: [name: string, object: object, fields: FieldSet][] = [
    ['leaves', { text: 'a', struct: { a: 'b' } }, { 'f:text': {}, 'f:struct': { 'f:a': {} } }],
    ['keys of maps', { labels: { 'a.b/c': '1' } }, { 'f:labels': { 'f:a.b/c': {} } }],
    [
      'what is empty or null, itself',
      { struct: {}, labels: {}, text: null },
      { 'f:struct': {}, 'f:labels': {}, 'f:text': {} },
    ],
    ['nothing of an empty list', { set: [] }, {}],
    [
      'items with what is in them',
      { map: [{ name: 'x', a: 1 }], set: [1] },
      {
        'f:map': { 'k:{"name":"x"}': { '.': {}, 'f:a': {}, 'f:name': {} } },
        'f:set': { 'v:1': {} },
      },
    ],
    [
      'an item that comes twice, as a whole',
      {
        map: [
          { name: 'x', a: 1 },
          { name: 'x', a: 2 },
        ],
      },
      { 'f:map': { 'k:{"name":"x"}': {} } },
    ],
    [
      'keys that are not declared, where they may be',
      { open: { x: { y: 1 }, closed: { z: 1 } } },
      {
        'f:open': { 'f:x': { '.': {}, 'f:y': {} }, 'f:closed': { 'f:z': {} } },
      },
    ],
    ['none that are not declared elsewhere', { struct: { z: 1 } }, {}],
  ];
  for (const [name, object, fields] of rows) test(name, () => assert.deepEqual(fieldSetOf(object, SCHEMA), fields));
});
