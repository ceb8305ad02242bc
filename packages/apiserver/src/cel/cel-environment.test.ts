import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CelEnvironment } from './cel-environment.ts';
import { CelAuthorizer } from './library/authorizer.ts';
import type { CelVariables } from './cel-program.ts';
import { celValue } from './values/json-value.ts';

const environment = new CelEnvironment();

function about(object: unknown): CelVariables {
  return new Map([
    ['object', celValue(object)],
    ['oldObject', null],
  ]);
}

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
    ['[dyn(1), dyn(2)].sum() == 3', true],
    ['object.spec.list.sum() == 1', /no such overload$/],
    ['oldObject == null', true],
    ['has(object.spec.list) && object.spec.list[?7].orValue("z") == "z"', true],
    ['cidr("10.0.0.0/8").containsIP(ip("10.1.2.3"))', true],
    ['url("https://a.b:8/c").getPort() == "8"', true],
    ['object.metadata.labels.exists(k, v, k == "constructor" && v == "x")', true],
    ['!("toString" in object.metadata.labels)', true],
    ['object.spec.nope == 1', /no such key: nope$/],
    ['object.metadata.name + object.spec.replicas == "x"', /no such overload$/],
  ];
  for (const [expression, expected] of VALUES) {
    test(`evaluated: ${expression}`, async () => {
      const { condition, fault } = environment.compile(expression);
      assert.ok(condition, fault);
      const outcome = condition.evaluate(about(object));
      if (expected instanceof RegExp) await assert.rejects(outcome, expected);
      else assert.equal((await outcome).value, expected);
    });
  }

  /** A list or a text of 2^30 times the size, if nothing stopped it. */
  function doubling(value: string): string {
    const begin = `[${value}].all(v0, `;
    const steps = Array.from({ length: 30 }, (_, index) => `[v${index} + v${index}].all(v${index + 1}, `);
    return `${begin}${steps.join('')}v30.size() >= 0${')'.repeat(31)}`;
  }

  const many = JSON.stringify(Array.from({ length: 300 }, (_, index) => index));
  const HOGS: [expression: string, isTrue?: boolean][] = [
    [`${many}.all(a, ${many}.all(b, ${many}.all(c, a + b + c >= 0)))`],
    [`false || ${many}.all(a, ${many}.exists(b, ${many}.exists(c, a + b + c < 0) || true)) || true`, true],
    ['object.list.all(each, each in object.list)'],
    [`[object.text + object.text].all(a, ${'a.contains("y") || '.repeat(60)}a.contains("y"))`],
    ['object.text.matches("(x+x+)+y")'],
    [`object.text.matches("${'(?:a?){1000}'.repeat(50)}b") || object.text.matches("${'(?:x?){1000}'.repeat(50)}")`],
    ['object.list.all(x, object.text.findAll("[a-z]|" + string(x)).size() > 0)'],
    [doubling('object.text')],
    [doubling('object.list')],
    [`object.?text${'.optMap(x, x + x)'.repeat(200)}.hasValue()`],
    ['object.text.replace("", object.text).size() > 0'],
    ['object.list.map(x, object.text).join(object.text).size() > 0'],
    ['lists.range(1000000000).size() > 0'],
    ['[object.nested].all(x, object.list.all(y, x == object.same))'],
    ['object.list.all(x, object.text.substring(0, 1) == "x")'],
    ['object.list.all(x, object.text < object.other)'],
    ['object.list.distinct().size() > 0'],
    ['object.list.map(x, object.list).flatten().size() > 0'],
    ['sets.equivalent(object.list, object.list)'],
    ['object.list.all(k, object.list.transformMap(i, v, i) == object.list.transformMap(i, v, i))'],
    ['object.list.all(x, timestamp("2020-01-01T00:00:00Z").getHours("Europe/Berlin") > 0)', true],
    ['object.list.all(x, isSemver("1.0.0") && isIP("fe80::1") && isURL("http://a.b/c"))', true],
  ];
  for (const [expression, isTrue = false] of HOGS) {
    test(`bounded: ${expression.slice(0, 40)}`, async () => {
      const { condition, fault } = environment.compile(expression);
      assert.ok(condition, fault);
      const variables = about({
        text: 'x'.repeat(30_000),
        other: `${'x'.repeat(29_999)}y`,
        list: Array.from({ length: 20_000 }, (_, index) => index),
        nested: Array.from({ length: 100 }, () => Array.from({ length: 1000 }, () => 1)),
        same: Array.from({ length: 100 }, () => Array.from({ length: 1000 }, () => 1)),
      });
      const start = performance.now();
      const outcome = await condition.evaluate(variables).then(
        ({ value }) => value,
        (error: unknown) => (error as Error).message,
      );
      // It takes 0.5 s at most on a quiet machine.
      assert.ok(performance.now() - start < 10_000, `took ${performance.now() - start} ms`);
      assert.ok(outcome === isTrue || outcome === 'operation cancelled: actual cost limit exceeded', String(outcome));
    });
  }

  const LARGE: [name: string, expression: string][] = [
    ['a list', `[${'1,'.repeat(49_000)}1] == []`],
    ['lists', `[${'[],'.repeat(33_000)}[]] == []`],
    ['a disjunction', `${'a || '.repeat(19_000)}a`],
    ['a sum', `1${'+1'.repeat(49_000)} == 1`],
    ['parentheses', '('.repeat(99_000)],
    ['brackets', '['.repeat(99_000)],
    ['a path', `object${'.b'.repeat(49_000)}`],
    ['conditions', `${'true?true:'.repeat(9_000)}true`],
    ['negations', `${'!'.repeat(99_000)}true`],
    ['quoted names', '``a'.repeat(33_000)],
    ['a pattern', `object.x.matches('${'(a|'.repeat(20_000)}')`],
    ['types of doubling size', `[1]${'.map(x, {x: x})'.repeat(200)}.size() == 1`],
    ['targets that are evaluated twice', `object.?a${'.optMap(x, x)'.repeat(240)}.hasValue()`],
    ['too many characters', 'a'.repeat(100_001)],
  ];
  for (const [name, expression] of LARGE) {
    test(`compiled in bounded time: ${name}`, () => {
      const start = performance.now();
      const { fault = '' } = environment.compile(expression);
      // It takes 0.5 s at most on a quiet machine.
      assert.ok(performance.now() - start < 10_000, `took ${performance.now() - start} ms`);
      assert.ok(fault.length < 300_000);
    });
  }

  test('an authorizer is asked each question once, however long it takes', async () => {
    const asked: string[] = [];
    const authorizer = new CelAuthorizer(
      {
        async authorize({ verb, resource = '' }) {
          asked.push(`${verb} ${resource}`);
          await Promise.resolve();
          return { allowed: verb === 'get', reason: '' };
        },
      },
      { username: 'u', groups: [] },
    );
    const { condition } = environment.compile(
      "authorizer.group('').resource('pods').check('get').allowed() && !authorizer.group('').resource('pods').check('list').allowed()",
    );
    assert.equal((await condition!.evaluate(new Map([['authorizer', authorizer]]))).value, true);
    assert.deepEqual(asked, ['get pods', 'list pods']);
  });

  test('a third question to the authorizer is too much', async () => {
    const authorizer = new CelAuthorizer(
      { authorize: () => ({ allowed: true, reason: '' }) },
      { username: 'u', groups: [] },
    );
    const question = (verb: string): string => `authorizer.path('/a').check('${verb}').allowed()`;
    const { condition } = environment.compile(['a', 'b', 'c'].map(question).join(' && '));
    await assert.rejects(condition!.evaluate(new Map([['authorizer', authorizer]])), /actual cost limit exceeded/);
  });

  // The first is the largest list of which upstream evaluates this expression.
  const COSTS: [expression: string, list: unknown[], cost: number][] = [
    ['sets.contains(object, object)', Array.from({ length: 999 }, () => 1), 998_004],
    ['object.all(x, x >= 0)', Array.from({ length: 10 }, () => 1), 52],
  ];
  for (const [expression, list, cost] of COSTS) {
    test(`costs ${cost}: ${expression}`, async () => {
      assert.equal((await environment.compile(expression).condition!.evaluate(about(list))).cost, cost);
    });
  }
});
