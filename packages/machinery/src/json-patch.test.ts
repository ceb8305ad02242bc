import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { applyJsonPatch, JsonPatchedDocument } from './json-patch.ts';
import { StatusError } from './status.ts';

const DOCUMENT = { data: { a: '1', b: '2' }, list: ['x', 'y'], 'a/b': { '~': 0 } };

describe('operations that apply', () => {
  const rows: [name: string, operations: unknown, changed: object][] = [
    ['no operations', [], {}],
    ['null is no operations', null, {}],
    ['add a member', [{ op: 'add', path: '/data/c', value: '3' }], { data: { a: '1', b: '2', c: '3' } }],
    ['add over a member', [{ op: 'add', path: '/data/a', value: 'over' }], { data: { a: 'over', b: '2' } }],
    ['add at an index', [{ op: 'add', path: '/list/1', value: 'm' }], { list: ['x', 'm', 'y'] }],
    ['add at the length', [{ op: 'add', path: '/list/2', value: 'z' }], { list: ['x', 'y', 'z'] }],
    ['add at the end', [{ op: 'add', path: '/list/-', value: 'z' }], { list: ['x', 'y', 'z'] }],
    ['K3 add at -1 is the end', [{ op: 'add', path: '/list/-1', value: 'z' }], { list: ['x', 'y', 'z'] }],
    ['K2 add without a value', [{ op: 'add', path: '/data/q' }], { data: { a: '1', b: '2', q: null } }],
    ['remove a member', [{ op: 'remove', path: '/data/a' }], { data: { b: '2' } }],
    ['remove an item', [{ op: 'remove', path: '/list/0' }], { list: ['y'] }],
    ['K3 remove the last', [{ op: 'remove', path: '/list/-1' }], { list: ['x'] }],
    ['replace', [{ op: 'replace', path: '/list/1', value: 'z' }], { list: ['x', 'z'] }],
    [
      'K1 replace what is missing',
      [{ op: 'replace', path: '/data/z', value: '9' }],
      { data: { a: '1', b: '2', z: '9' } },
    ],
    ['K4 a path without its slash', [{ op: 'replace', path: 'data/a', value: '9' }], { a: '9' }],
    ['escaped keys', [{ op: 'replace', path: '/a~1b/~0', value: 1 }], { 'a/b': { '~': 1 } }],
    ['move', [{ op: 'move', from: '/data/a', path: '/data/c' }], { data: { b: '2', c: '1' } }],
    ['move within a list', [{ op: 'move', from: '/list/0', path: '/list/1' }], { list: ['y', 'x'] }],
    ['copy', [{ op: 'copy', from: '/data', path: '/list/0' }], { list: [{ a: '1', b: '2' }, 'x', 'y'] }],
    [
      'K1 copy what is missing',
      [{ op: 'copy', from: '/data/z', path: '/data/c' }],
      { data: { a: '1', b: '2', c: null } },
    ],
    ['test', [{ op: 'test', path: '/data', value: { b: '2', a: '1' } }], {}],
    ['test of the whole', [{ op: 'test', path: '', value: DOCUMENT }], {}],
    ['K1 test that a member is missing', [{ op: 'test', path: '/data/z', value: null }], {}],
    [
      'a key that is a trap',
      [{ op: 'add', path: '/data/__proto__', value: { polluted: true } }],
      { data: JSON.parse('{"a":"1","b":"2","__proto__":{"polluted":true}}') },
    ],
  ];
  for (const [name, operations, changed] of rows) {
    test(name, () => assert.deepEqual(applyJsonPatch(DOCUMENT, operations), { ...DOCUMENT, ...changed }));
  }

  test('the whole document is replaced', () => {
    assert.deepEqual(applyJsonPatch(DOCUMENT, [{ op: 'replace', path: '', value: { kind: 'X' } }]), { kind: 'X' });
  });

  test('a copy is a copy', () => {
    const operations = [
      { op: 'copy', from: '/data', path: '/copied' },
      { op: 'replace', path: '/copied/a', value: '9' },
    ];
    assert.deepEqual(applyJsonPatch(DOCUMENT, operations), { ...DOCUMENT, copied: { a: '9', b: '2' } });
    const changedBefore = [{ op: 'replace', path: '/data/b', value: '8' }, ...operations];
    const data = { a: '1', b: '8' };
    assert.deepEqual(applyJsonPatch(DOCUMENT, changedBefore), { ...DOCUMENT, data, copied: { a: '9', b: '8' } });
  });
});

describe('operations that do not apply are one 422', () => {
  const rows: [name: string, operation: unknown][] = [
    ['add beyond the end', { op: 'add', path: '/list/99', value: 'x' }],
    ['add below nothing', { op: 'add', path: '/nope/x', value: 'x' }],
    ['add below a text', { op: 'add', path: '/data/a/b', value: 'x' }],
    ['add without a path', { op: 'add', value: 1 }],
    ['add at the root', { op: 'add', path: '', value: {} }],
    ['remove what is missing', { op: 'remove', path: '/data/z' }],
    ['remove beyond the end', { op: 'remove', path: '/list/7' }],
    ['remove the root', { op: 'remove', path: '' }],
    ['remove what is inherited', { op: 'remove', path: '/data/toString' }],
    ['replace beyond the end', { op: 'replace', path: '/list/2', value: 'x' }],
    ['replace the end', { op: 'replace', path: '/list/-', value: 'x' }],
    ['replace the root with a text', { op: 'replace', path: '', value: 'x' }],
    ['move what is missing', { op: 'move', from: '/data/z', path: '/data/c' }],
    ['move without from', { op: 'move', path: '/data/a' }],
    ['test of another value', { op: 'test', path: '/data/a', value: '2' }],
    ['test of another type', { op: 'test', path: '/data/a', value: 1 }],
    ['test of what is missing', { op: 'test', path: '/data/z', value: 'x' }],
    ['no such operation', { op: 'frobnicate', path: '/data/a' }],
    ['no operation', { path: '/data/a' }],
    ['null', null],
  ];
  for (const [name, operation] of rows) {
    test(name, () => {
      assert.throws(
        () => applyJsonPatch(DOCUMENT, [operation]),
        (error) =>
          error instanceof StatusError &&
          error.code === 422 &&
          error.reason === 'Invalid' &&
          error.message === 'the server rejected our request due to an error in our request' &&
          error.cause instanceof Error,
      );
    });
  }

  test('copies that double and double are stopped', () => {
    const operations = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/data', path: `/data/k${i}` }));
    assert.throws(
      () => applyJsonPatch(DOCUMENT, operations),
      (error) => error instanceof StatusError && /copies more than/.test(String(error.cause)),
    );
  });
});

describe('what is no patch', () => {
  const rows: [patch: unknown, code: number, message: string][] = [
    [{}, 400, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    ['x', 400, 'error decoding patch: json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp'],
    [true, 400, 'error decoding patch: json: cannot unmarshal bool into Go value of type []handlers.jsonPatchOp'],
    [[1], 400, 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    [[[]], 400, 'error decoding patch: json: cannot unmarshal array into Go value of type handlers.jsonPatchOp'],
    [
      [{ op: 1 }],
      400,
      'error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string',
    ],
    [
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/x' })),
      413,
      'Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001',
    ],
  ];
  for (const [patch, code, message] of rows) {
    test(message, () => {
      assert.throws(
        () => applyJsonPatch(DOCUMENT, patch),
        (error) => error instanceof StatusError && error.code === code && error.message === message,
      );
    });
  }
});

test('the document and the patch are left as they were', () => {
  const inserted = { deep: { x: 1 } };
  const operations = [
    { op: 'add', path: '/data/n', value: inserted },
    { op: 'replace', path: '/data/n/deep/x', value: 2 },
    { op: 'remove', path: '/list/0' },
  ];
  const before = structuredClone(DOCUMENT);
  applyJsonPatch(DOCUMENT, operations);
  assert.deepEqual(DOCUMENT, before);
  assert.deepEqual(inserted, { deep: { x: 1 } });
});

test('what is added is there, and gone when it is removed', () => {
  const path = fc.array(fc.string({ unit: fc.constantFrom(...'ab~/'.split('')) }), { minLength: 1, maxLength: 1 });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), path, fc.jsonValue(), (document, [key = ''], value) => {
      const pointer = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      const added = applyJsonPatch(document, [
        { op: 'add', path: pointer, value },
        { op: 'test', path: pointer, value },
      ]);
      const { [key]: _, ...rest } = document;
      assert.deepEqual(applyJsonPatch(added, [{ op: 'remove', path: pointer }]), { ...rest });
    }),
  );
});

describe('whatever is done, and whether it can be', () => {
  const leaf = fc.constantFrom<unknown>('x', 0, null);
  const { document } = fc.letrec((tie) => ({
    document: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { noNullPrototype: true }),
    value: fc.oneof({ depthSize: 'small' }, leaf, tie('document'), fc.array(tie('value'), { maxLength: 3 })),
  }));
  const path = fc
    .array(fc.constantFrom('a', 'b', 'c', '0', '1', '-'), { minLength: 1, maxLength: 3 })
    .map((keys) => keys.map((key) => `/${key}`).join(''));
  const op = fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'copy');
  const operations = fc.array(fc.record({ op, path, from: path, value: document }, { noNullPrototype: true }), {
    maxLength: 6,
  });

  /** What it comes to, or undefined where it cannot be applied. */
  const outcome = (given: unknown, patch: unknown): unknown => {
    try {
      return applyJsonPatch(given, patch);
    } catch (error) {
      assert.ok(error instanceof StatusError);
      return undefined;
    }
  };

  test('the document and the patch are left as they were', () => {
    fc.assert(
      fc.property(document, operations, (given, patch) => {
        const before = structuredClone([given, patch]);
        outcome(given, patch);
        assert.deepEqual([given, patch], before);
      }),
    );
  });

  test('all at once is the same as one after the other, on copies', () => {
    fc.assert(
      fc.property(document, operations, (given, patch) => {
        let step: unknown = structuredClone(given);
        for (const operation of patch) {
          if (step !== undefined) step = structuredClone(outcome(step, [structuredClone(operation)]));
        }
        assert.deepEqual(outcome(given, patch), step);
      }),
    );
  });
});

describe('a document of many operations', () => {
  test('an operation that cannot be applied leaves the document as it was', () => {
    const patched = new JsonPatchedDocument({ a: [1, 2], b: { c: 1 } });
    patched.apply({ op: 'add', path: '/b/d', value: 2 });
    const refused = [
      { op: 'move', from: '/a/0', path: '/a/9' },
      { op: 'move', from: '/b/c', path: '/x/y' },
      { op: 'remove', path: '/b/x' },
      { op: 'test', path: '/b/c', value: 2 },
    ] as const;
    for (const operation of refused) {
      assert.throws(() => patched.apply(operation), /rejected our request/);
      assert.deepEqual(patched.value, { a: [1, 2], b: { c: 1, d: 2 } });
    }
  });

  test('the document that was given is never changed', () => {
    const given = { a: [1, 2], b: { c: 1 } };
    const patched = new JsonPatchedDocument(given);
    patched.apply({ op: 'add', path: '/a/0', value: 0 });
    patched.apply({ op: 'replace', path: '/b/c', value: 5 });
    assert.deepEqual(given, { a: [1, 2], b: { c: 1 } });
    assert.deepEqual(patched.value, { a: [0, 1, 2], b: { c: 5 } });
  });

  test('ten thousand operations on a large document cost little more than one', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, 'v']));
    const cpu = process.cpuUsage();
    const patched = new JsonPatchedDocument({ data: many });
    for (let index = 0; index < 10_000; index++) patched.apply({ op: 'replace', path: `/data/k${index}`, value: 'w' });
    assert.equal((patched.value as { data: Record<string, string> }).data['k9999'], 'w');
    const ms = process.cpuUsage(cpu).user / 1_000;
    assert.ok(ms < 2_000, `${ms} ms, where a copy for each operation takes over 10 s`);
  });
});

test('operations that move a long list to and fro are refused', () => {
  const list = Array.from({ length: 65_000 }, (_, index) => index);
  const operations = Array.from({ length: 10_000 }, () => ({ op: 'move', from: '/list/64999', path: '/list/0' }));
  assert.throws(() => applyJsonPatch({ list }, operations), { code: 413 });
  const few = Array.from({ length: 10_000 }, () => ({ op: 'add', path: '/list/0', value: 1 }));
  assert.equal((applyJsonPatch({ list: [] }, few.slice(0, 9_000)) as { list: unknown[] }).list.length, 9_000);
});
