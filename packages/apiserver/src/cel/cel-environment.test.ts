import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CelEnvironment } from './cel-environment.ts';
import { celValue } from './cel-value.ts';

const environment = new CelEnvironment();

describe('conditions', () => {
  const FAULTS: [expression: string, fault: string][] = [
    [
      'nope(',
      "compilation failed: ERROR: <input>:1:6: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | nope(\n | .....^",
    ],
    [
      'frob(object.a)',
      "compilation failed: ERROR: <input>:1:5: undeclared reference to 'frob' (in container '')\n | frob(object.a)\n | ....^",
    ],
    [
      'unknown.a',
      "compilation failed: ERROR: <input>:1:1: undeclared reference to 'unknown' (in container '')\n | unknown.a\n | ^",
    ],
    [
      'request.name == 1',
      "compilation failed: ERROR: <input>:1:14: found no matching overload for '_==_' applied to '(string, int)'\n | request.name == 1\n | .............^",
    ],
    [
      'request.nope == 1',
      "compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n | request.nope == 1\n | .......^",
    ],
    [
      "request.name.matches('[')",
      "compilation failed: ERROR: <input>:1:22: invalid matches argument\n | request.name.matches('[')\n | .....................^",
    ],
    ['object.a', 'must evaluate to bool'],
    ['request.name', 'must evaluate to bool'],
  ];
  for (const [expression, fault] of FAULTS) {
    test(`refused: ${expression}`, () => assert.equal(environment.compile(expression).fault, fault));
  }

  const object = {
    metadata: { name: 'web', labels: { constructor: 'x', __proto__x: 'y' } },
    spec: { replicas: 3, ratio: 0.5, list: ['b', 'a'], cpu: '1500m' },
  };
  const VALUES: [expression: string, value: boolean | RegExp][] = [
    ['object.spec.replicas == 3', true],
    ['object.spec.ratio < 1.0', true],
    ['object.metadata.labels["constructor"] == "x"', true],
    ['has(object.metadata.labels)', true],
    ['has(object.metadata.annotations)', false],
    ['"b" in object.spec.list', true],
    ['object.spec.list.all(each, each.size() == 1)', true],
    ['object.spec.?nope.orValue("d") == "d"', true],
    ['object.metadata.name.matches("^w.b$")', true],
    ['object.metadata.name.find("e.") == "eb"', true],
    ['object.metadata.name.replace("e", "o") == "wob"', true],
    ['[1, 3, 2].max() == 3 && [1, 2].sum() == 3 && [1, 2].isSorted()', true],
    ['quantity(object.spec.cpu).isGreaterThan(quantity("1"))', true],
    ['object.spec.nope == 1', /no such key: nope$/],
    ['object.metadata.name + object.spec.replicas == "x"', /no such overload$/],
  ];
  for (const [expression, expected] of VALUES) {
    test(`evaluated: ${expression}`, async () => {
      const { condition, fault } = environment.compile(expression);
      assert.ok(condition, fault);
      const value = condition.evaluate({ object: celValue(object) });
      if (expected instanceof RegExp) await assert.rejects(value, expected);
      else assert.equal(await value, expected);
    });
  }

  const many = JSON.stringify(Array.from({ length: 300 }, (_, index) => index));
  const HOGS = [
    `${many}.all(a, ${many}.all(b, ${many}.all(c, a + b + c >= 0)))`,
    `false || ${many}.all(a, ${many}.exists(b, ${many}.exists(c, a + b + c < 0) || true)) || true`,
    'object.list.all(each, each in object.list)',
    `cel.bind(a, object.text + object.text, ${'a.contains("y") || '.repeat(60)}a.contains("y"))`,
    'object.text.matches("(x+x+)+y")',
  ];
  for (const expression of HOGS) {
    test(`bounded: ${expression.slice(0, 40)}`, async () => {
      const { condition, fault } = environment.compile(expression);
      assert.ok(condition, fault);
      const variables = {
        object: celValue({ text: 'x'.repeat(30_000), list: Array.from({ length: 20_000 }, (_, i) => i) }),
      };
      const outcome = await condition.evaluate(variables).catch((error: unknown) => (error as Error).message);
      assert.ok(outcome === false || outcome === 'operation cancelled: actual cost limit exceeded', String(outcome));
    });
  }
});
