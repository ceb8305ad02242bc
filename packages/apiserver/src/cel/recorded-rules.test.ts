import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { OpenApiSchema } from '@asterism/machinery';
import { compileProgram, CostExceeded } from './cel-program.ts';
import { createLibrary, NAMED_TYPES } from './library/kubernetes-library.ts';
import { type CelType, optionalOf } from './typing/cel-type.ts';
import type { Declarations } from './typing/checker.ts';
import { schemaType } from './typing/schema-type.ts';
import { celValue } from './values/json-value.ts';

/** Expressions in definitions that were sent to a CRD server of 1.36, by the schema that they are about. */
interface RecordedDefinitions {
  schema: OpenApiSchema;
  /** The schema of a whole object. */
  root?: boolean;
  optionalOldSelf?: boolean;
  expressions: { rule?: string; messageExpression?: string; fault?: string }[];
}

/** Objects that were sent to it, and what it said of each. */
interface RecordedRules {
  schema: OpenApiSchema;
  root?: boolean;
  rules: { rule: string; message?: string; messageExpression?: string }[];
  objects: { value: unknown; faults?: string[] }[];
}

/** Expressions that are compiled differently, and why. */
const COMPILED_DIFFERENTLY = new Map([
  ['self.in == 1', 'the parser reports the first of two syntax errors'],
  ['/* c */ true', 'the parser reports the first of three syntax errors'],
  ["google.protobuf.Duration{seconds: 1} == duration('1s')", 'messages of protobuf cannot be made'],
]);
/** Rules, and what they differ for. */
const EVALUATED_DIFFERENTLY = new Map([
  [
    `self.sortBy(e, e.i).map(e, e.n) == ['a','b'] of [{"n":"b"},{"n":"a","i":1}]`,
    'upstream fails with an internal error of Go',
  ],
  ['optional.ofNonZeroValue(self.l).hasValue() of {"l":[]}', 'upstream takes an empty list of an object for a value'],
  ['isQuantity(self) of "Mi"', 'upstream takes a suffix alone for a quantity'],
  ['double(self) == 5.0 of "0x5p0"', 'hexadecimal doubles are not read'],
]);
const LIMIT = 1_000_000;

const functions = createLibrary();

function declare(self: CelType, oldSelf = self): Declarations {
  return {
    functions,
    types: NAMED_TYPES,
    variables: new Map([
      ['self', self],
      ['oldSelf', oldSelf],
    ]),
  };
}

function read<Recorded>(name: string): Recorded[] {
  const text = readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Recorded);
}

describe('expressions are compiled and refused as by a kube-apiserver', () => {
  for (const { schema, root = false, optionalOldSelf = false, expressions } of read<RecordedDefinitions>(
    'recorded-definitions.jsonl',
  )) {
    const self = schemaType(schema, root)!;
    const declarations = declare(self, optionalOldSelf ? optionalOf(self) : self);
    for (const { rule, messageExpression, fault } of expressions) {
      const text = rule ?? messageExpression!;
      test(text, { skip: COMPILED_DIFFERENTLY.get(text) ?? false }, () => {
        const { program, fault: found } = compileProgram(text, declarations);
        const expected = rule === undefined ? 'string' : 'bool';
        const verdict = found ?? (program.type.kind === expected ? undefined : `must evaluate to a ${expected}`);
        const said = fault?.replace(/^messageExpression /, '').replace(/^cel expression /, '');
        assert.equal(verdict, said);
      });
    }
  }
});

describe('rules are evaluated as by a kube-apiserver', () => {
  for (const { schema, root = false, rules, objects } of read<RecordedRules>('recorded-rules.jsonl')) {
    const self = schemaType(schema, root)!;
    for (const { value, faults = [] } of objects) {
      const name = `${rules.map(({ rule, messageExpression }) => messageExpression ?? rule).join('; ')} of ${JSON.stringify(value)}`;
      test(name.slice(0, 200), { skip: EVALUATED_DIFFERENTLY.get(name) ?? false }, () => {
        const found = faultsOf(rules, value, self);
        assert.equal(found.length, faults.length, `${found.join(', ')} instead of ${faults.join(', ')}`);
        for (const fault of found)
          assert.ok(
            faults.some((each) => isFault(each, fault)),
            `${fault} instead of ${faults.join(', ')}`,
          );
      });
    }
  }
});

/** The recorded fault has the value, or its type, before the message; a duplicate value has no message. */
function isFault(recorded: string, found: string): boolean {
  return recorded.endsWith(found) || recorded.startsWith('Duplicate value');
}

function faultsOf(rules: RecordedRules['rules'], value: unknown, self: CelType): string[] {
  const variables = new Map([['self', celValue(value, self)]]);
  const run = (text: string): unknown => {
    const { program, fault } = compileProgram(text, declare(self));
    assert.ok(program, fault);
    return program.evaluateNow(variables, LIMIT).value;
  };
  const faults: string[] = [];
  for (const { rule, message, messageExpression } of rules) {
    try {
      if (run(rule) !== true) faults.push(messageOf(run, `failed rule: ${rule.trim()}`, message, messageExpression));
    } catch (error) {
      const why = (error as Error).message;
      if (error instanceof CostExceeded) {
        const end = 'no further validation rules will be run due to call cost exceeds limit for rule';
        return [...faults, `'${why}': ${end}: ${rule}`];
      }
      faults.push(`${why} evaluating rule: ${message ?? rule}`);
    }
  }
  return faults;
}

/** The message of the expression, unless it is empty, has several lines, or fails. */
function messageOf(run: (text: string) => unknown, failed: string, message = failed, expression?: string): string {
  if (expression === undefined) return message.trim();
  try {
    const text = String(run(expression)).trim();
    return text === '' || text.includes('\n') ? message.trim() : text;
  } catch {
    return message.trim();
  }
}
