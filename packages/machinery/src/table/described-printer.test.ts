import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUILTIN_RESOURCES } from '../generated/builtin-resources.ts';
import { builtinPrinter } from './builtin-printers.ts';
import { describedPrinter } from './described-printer.ts';
import { DEFAULT_PRINTER } from './table-printer.ts';

test('every column of a built-in kind is described, but those that upstream does not describe', () => {
  const bare = new Set<string>();
  for (const { group, kind } of BUILTIN_RESOURCES) {
    for (const { name, description } of builtinPrinter({ group, kind }).columns) {
      if (description === '') bare.add(`${kind} ${name}`);
    }
  }
  assert.deepEqual([...bare], ['RuntimeClass Handler']);
});

test('flow schemas are shown in the order in which they are tried', () => {
  const { compare } = builtinPrinter({ group: 'flowcontrol.apiserver.k8s.io', kind: 'FlowSchema' });
  const schema = (name: string, matchingPrecedence: number) => ({ metadata: { name }, spec: { matchingPrecedence } });
  const schemas = [schema('c', 900), schema('b', 100), schema('a', 900)].toSorted(compare);
  assert.deepEqual(
    schemas.map(({ metadata }) => metadata.name),
    ['b', 'a', 'c'],
  );
});

test('a text of the printer itself stays, and an unknown kind has those that all share', () => {
  const [name] = DEFAULT_PRINTER.columns;
  const printer = describedPrinter({ ...DEFAULT_PRINTER, columns: [{ ...name!, description: 'mine' }, name!] }, 'a/B');
  assert.deepEqual(
    printer.columns.map(({ description }) => description.slice(0, 19)),
    ['mine', 'Name must be unique'],
  );
});
