import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInteger, readWriteOptions } from './write-options.ts';

type Kind = Parameters<typeof readWriteOptions>[1];
const read = (search: string, kind: Kind = 'CreateOptions', isApply = false, agent?: string) =>
  readWriteOptions({ query: new URLSearchParams(search), headers: { 'user-agent': agent } }, kind, isApply);

test('without options a write is real, warns of unknown fields and is managed by the user agent', () => {
  assert.deepEqual(read('', 'CreateOptions', false, 'kubectl/v1.36 (linux/amd64)'), {
    dryRun: false,
    fieldManager: 'kubectl',
    fieldValidation: 'Warn',
    force: undefined,
  });
});

test('a user agent without a slash, or none, still names a manager', () => {
  assert.equal(read('', 'CreateOptions', false, 'Mozilla 5.0').fieldManager, 'Mozilla 5.0');
  assert.equal(read('').fieldManager, 'unknown');
});

test('what is asked for is taken', () => {
  const options = read('fieldManager=me&dryRun=All&fieldValidation=Strict&force=true', 'PatchOptions', true);
  assert.deepEqual(options, { dryRun: true, fieldManager: 'me', fieldValidation: 'Strict', force: true });
});

const refused: [search: string, kind: Kind, isApply: boolean, code: number, message: string][] = [
  [
    'fieldValidation=Bogus',
    'CreateOptions',
    false,
    422,
    'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Bogus": supported values: "", "Ignore", "Strict", "Warn"',
  ],
  [
    'dryRun=Nope',
    'UpdateOptions',
    false,
    422,
    'UpdateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Nope"]: supported values: "All"',
  ],
  [
    `fieldManager=${'x'.repeat(129)}`,
    'CreateOptions',
    false,
    422,
    'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
  ],
  [
    'fieldManager=a%01b',
    'CreateOptions',
    false,
    422,
    'CreateOptions.meta.k8s.io "" is invalid: fieldManager: Invalid value: "a\\x01b": invalid character U+0001 (at position 1)',
  ],
  [
    '',
    'PatchOptions',
    true,
    422,
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  ],
  [
    'force=1',
    'PatchOptions',
    false,
    422,
    'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
  ],
];

for (const [search, kind, isApply, code, message] of refused) {
  test(`refused: ${kind} ${search || 'nothing'}`, () => {
    assert.throws(() => read(search, kind, isApply), { code, message });
  });
}

const integers: [text: string, read: number | string][] = [
  ['', 'undefined'],
  ['7', 7],
  ['-1', -1],
  ['+07', 7],
  ['9223372036854775807', 2 ** 63],
  ['-9223372036854775808', -(2 ** 63)],
  ['9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
  ['9'.repeat(1000), `strconv.ParseInt: parsing "${'9'.repeat(1000)}": value out of range`],
  ['1e18', 'strconv.ParseInt: parsing "1e18": invalid syntax'],
  ['1.5', 'strconv.ParseInt: parsing "1.5": invalid syntax'],
];

for (const [text, expected] of integers) {
  test(`the integer ${text.slice(0, 30)}`, () => {
    const run = (): number | undefined => readInteger(new URLSearchParams({ limit: text }), 'limit');
    if (typeof expected === 'number') assert.equal(run(), expected);
    else if (expected === 'undefined') assert.equal(run(), undefined);
    else assert.throws(run, { code: 400, message: expected });
  });
}
