import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  EMPTY_SET,
  type FieldSet,
  hasPath,
  intersectSets,
  pathsOf,
  setOfPath,
  subtractSets,
  subtractTrees,
  unionSets,
} from './field-set.ts';
import { readFieldsV1, writeFieldsV1 } from './fields-v1.ts';

type Path = readonly string[];

const element = fc.constantFrom('f:a', 'f:b', 'k:{"name":"x"}', 'v:"y"', 'i:0');
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 4 }), { maxLength: 8 });

function setOf(members: readonly Path[]): FieldSet {
  return members.map((path) => setOfPath(path)).reduce(unionSets, EMPTY_SET);
}

/** The same set as texts, to reckon with it naively. */
function textsOf(set: FieldSet): Set<string> {
  return new Set([...pathsOf(set)].map((path) => path.join('/')));
}

function texts(members: readonly Path[]): Set<string> {
  return new Set(members.map((path) => path.join('/')));
}

describe('sets of fields are sets of paths', () => {
  const check = (name: string, property: (a: Path[], b: Path[]) => void) => {
    test(name, () => fc.assert(fc.property(paths, paths, property)));
  };

  check('members', (a) => {
    assert.deepEqual(textsOf(setOf(a)), texts(a));
    for (const path of a) assert.ok(hasPath(setOf(a), path));
  });
  check('union', (a, b) => assert.deepEqual(textsOf(unionSets(setOf(a), setOf(b))), texts([...a, ...b])));
  check('intersection', (a, b) => {
    assert.deepEqual(textsOf(intersectSets(setOf(a), setOf(b))), texts(a).intersection(texts(b)));
  });
  check('difference', (a, b) => {
    assert.deepEqual(textsOf(subtractSets(setOf(a), setOf(b))), texts(a).difference(texts(b)));
  });
  check('difference with all that is below', (a, b) => {
    const isBelow = (text: string) => b.some((path) => `${text}/`.startsWith(`${path.join('/')}/`));
    assert.deepEqual(textsOf(subtractTrees(setOf(a), setOf(b))), new Set([...texts(a)].filter((t) => !isBelow(t))));
  });
  check('nothing is changed in place', (a, b) => {
    const [left, right] = [setOf(a), setOf(b)];
    const before = JSON.stringify([left, right]);
    unionSets(left, right);
    intersectSets(left, right);
    subtractSets(left, right);
    subtractTrees(left, right);
    assert.equal(JSON.stringify([left, right]), before);
  });
  check('what is written is what was read', (a) => {
    assert.deepEqual(readFieldsV1(writeFieldsV1(setOf(a))), setOf(a));
  });
});

describe('fieldsV1', () => {
  test('of a level its members come before what is below', () => {
    const set = setOf([['f:b'], ['f:a', 'f:x'], ['f:a', 'f:x', 'f:y'], ['f:c']]);
    assert.deepEqual(
      [...pathsOf(set)].map((path) => path.join('/')),
      ['f:b', 'f:c', 'f:a/f:x', 'f:a/f:x/f:y'],
    );
  });

  test('elements are sorted', () => {
    assert.equal(
      JSON.stringify(writeFieldsV1(setOf([['f:b'], ['f:b', 'f:d'], ['f:a']]))),
      '{"f:a":{},"f:b":{".":{},"f:d":{}}}',
    );
  });

  const rows: [name: string, fields: unknown, set: FieldSet | undefined][] = [
    ['absent', undefined, {}],
    ['null', null, {}],
    ['a member with nothing below', { 'f:a': {} }, { 'f:a': {} }],
    ['a node that is no member', { 'f:a': { 'f:b': {} } }, { 'f:a': { 'f:b': {} } }],
    ['a member with members below', { 'f:a': { '.': {}, 'f:b': {} } }, { 'f:a': { '.': {}, 'f:b': {} } }],
    ['a node of which nothing is known', { 'x:a': {}, 'f:b': {} }, { 'f:b': {} }],
    ['a field of any name', { 'f:__proto__': {}, 'f:': {} }, { 'f:__proto__': {}, 'f:': {} }],
    ['no object', 'f:a', undefined],
    ['a list', [], undefined],
    ['no kind of element', { a: {} }, undefined],
    ['a key that is no JSON', { 'k:{': {} }, undefined],
    ['an index that is no number', { 'i:x': {} }, undefined],
    ['malformed below', { 'f:a': { 'f:b': 3 } }, undefined],
  ];
  for (const [name, fields, set] of rows) test(name, () => assert.deepEqual(readFieldsV1(fields), set));
});
