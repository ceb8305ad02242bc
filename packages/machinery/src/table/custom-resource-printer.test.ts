import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StatusError } from '../status.ts';
import { customResourcePrinter } from './custom-resource-printer.ts';

const NOW = Date.parse('2026-01-02T03:04:05Z');

/** The one cell of a column of that type that shows `value`. */
function cell(type: string, value: unknown): unknown {
  const printer = customResourcePrinter([{ name: 'X', type, jsonPath: '.spec.x' }]);
  return printer.row({ metadata: { name: 'w' }, spec: { x: value } }, NOW).cells[1];
}

test('a cell is what its type can show', () => {
  const rows: [type: string, value: unknown, cell: unknown][] = [
    ['string', 'a', 'a'],
    ['string', 5, '5'],
    ['string', true, 'true'],
    ['string', { a: [1] }, '{"a":[1]}'],
    ['integer', 3, 3],
    ['integer', 3.9, 3],
    ['integer', '3', null],
    ['number', 1.5, 1.5],
    ['number', '1.5', null],
    ['boolean', false, false],
    ['boolean', 'false', null],
    ['date', '2026-01-02T03:03:05Z', '60s'],
    ['date', 'soon', '<invalid>'],
    ['date', '2026-01-01', '<invalid>'],
    ['date', '', '<unknown>'],
    ['date', 5, null],
    ['string', null, '<no value>'],
    ['integer', null, null],
    ['string', 2_000_000.5, '2.0000005e+06'],
    ['string', { b: '<x>', a: 1 }, '{"a":1,"b":"\\u003cx\\u003e"}'],
    ['string', undefined, null],
  ];
  for (const [type, value, expected] of rows) assert.deepEqual(cell(type, value), expected, `${type} ${String(value)}`);
});

test('without columns the age is shown', () => {
  for (const printer of [customResourcePrinter(undefined), customResourcePrinter([])]) {
    assert.deepEqual(
      printer.columns.map(({ name, type }) => [name, type]),
      [
        ['Name', 'string'],
        ['Age', 'date'],
      ],
    );
    const { cells } = printer.row({ metadata: { name: 'w', creationTimestamp: '2026-01-02T03:03:05Z' } }, NOW);
    assert.deepEqual(cells, ['w', '60s']);
  }
});

test('what Kubernetes gives every resource is described in its words', () => {
  const [name, age] = customResourcePrinter(undefined).columns;
  assert.match(name?.description ?? '', /^Name must be unique within a namespace\./);
  assert.match(age?.description ?? '', /^CreationTimestamp is a timestamp/);
});

test('format, description and priority are those of the column', () => {
  const printer = customResourcePrinter([
    { name: 'Key', type: 'string', format: 'password', description: 'secret', priority: 1, jsonPath: '.k' },
    { name: 'Bare', type: 'string', jsonPath: '.b' },
  ]);
  assert.deepEqual(printer.columns.slice(1), [
    { name: 'Key', type: 'string', format: 'password', description: 'secret', priority: 1 },
    {
      name: 'Bare',
      type: 'string',
      format: '',
      description: 'Custom resource definition column (in JSONPath format): .b',
      priority: 0,
    },
  ]);
});

test('a path that cannot be read is an error that names it', () => {
  assert.throws(
    () => customResourcePrinter([{ name: 'X', type: 'string', jsonPath: '.spec[' }]),
    (error) => error instanceof StatusError && error.code === 400 && error.message.includes('.spec['),
  );
});
