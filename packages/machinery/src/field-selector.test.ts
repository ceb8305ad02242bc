import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type FieldRequirement, formatFieldSelector, matchesFields, parseFieldSelector } from './field-selector.ts';
import { StatusError } from './status.ts';

describe('parseFieldSelector', () => {
  const rows: [text: string, requirements: FieldRequirement[]][] = [
    ['', []],
    ['metadata.name=web', [{ path: 'metadata.name', operator: '=', value: 'web' }]],
    ['metadata.name==web', [{ path: 'metadata.name', operator: '=', value: 'web' }]],
    ['status.phase!=Running', [{ path: 'status.phase', operator: '!=', value: 'Running' }]],
    ['spec.nodeName=', [{ path: 'spec.nodeName', operator: '=', value: '' }]],
    [
      'a=1,,b!=2,',
      [
        { path: 'a', operator: '=', value: '1' },
        { path: 'b', operator: '!=', value: '2' },
      ],
    ],
    ['a=x\\,y\\=z\\\\', [{ path: 'a', operator: '=', value: 'x,y=z\\' }]],
    ['=x', [{ path: '', operator: '=', value: 'x' }]],
  ];
  for (const [text, requirements] of rows) {
    test(JSON.stringify(text), () => assert.deepEqual(parseFieldSelector(text), requirements));
  }
});

describe('what is wrong with a field selector, in the words of Kubernetes 1.36', () => {
  const rows: [text: string, message: string][] = [
    ['nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    ['a=1,metadata.name>x', "invalid selector: 'a=1,metadata.name>x'; can't understand 'metadata.name>x'"],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
  ];
  for (const [text, message] of rows) {
    test(JSON.stringify(text), () =>
      assert.throws(
        () => parseFieldSelector(text),
        (error) => error instanceof StatusError && error.code === 400 && error.message === message,
      ),
    );
  }
});

test('an absent field is the empty string', () => {
  const fields: Record<string, string> = { 'metadata.name': 'web', 'status.phase': 'Running' };
  const chosen = (text: string) => matchesFields(parseFieldSelector(text), (path) => fields[path]);
  assert.equal(chosen(''), true);
  assert.equal(chosen('metadata.name=web,status.phase!=Pending'), true);
  assert.equal(chosen('metadata.name=web,metadata.name=api'), false);
  assert.equal(chosen('spec.nodeName='), true);
  assert.equal(chosen('spec.nodeName!='), false);
});

test('a formatted selector parses to what it was', () => {
  const requirement = fc.record(
    {
      path: fc.stringMatching(/^[a-z.]{1,12}$/),
      operator: fc.constantFrom('=' as const, '!=' as const),
      value: fc.string({ unit: fc.constantFrom(...'ab,=\\!'.split('')), maxLength: 8 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 4 }), (requirements) => {
      assert.deepEqual(parseFieldSelector(formatFieldSelector(requirements)), requirements);
    }),
  );
});
