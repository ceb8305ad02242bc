import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type LabelRequirement,
  formatLabelSelector,
  labelSelectorFromObject,
  matchesLabels,
  parseLabelSelector,
} from './labels.ts';
import { StatusError } from './status.ts';

function messageOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    assert.ok(error instanceof StatusError && error.code === 400 && error.reason === 'BadRequest');
    return error.message;
  }
  return assert.fail('nothing was thrown');
}

describe('selectors choose what a Kubernetes server chooses', () => {
  const objects: Record<string, Record<string, string>> = {
    cm0: { i: '0', even: 'yes', tier: 'web' },
    cm1: { i: '1', even: 'no', tier: 'web' },
    cm2: { i: '2', even: 'yes' },
    cm3: { i: '3', even: 'no' },
  };
  const rows: [selector: string, chosen: string][] = [
    ['', 'cm0 cm1 cm2 cm3'],
    ['even=yes', 'cm0 cm2'],
    ['even==yes', 'cm0 cm2'],
    ['even = yes', 'cm0 cm2'],
    [' even=yes ', 'cm0 cm2'],
    ['even!=yes', 'cm1 cm3'],
    ['tier!=web', 'cm2 cm3'],
    ['i=1,even=no', 'cm1'],
    ['tier', 'cm0 cm1'],
    ['!tier', 'cm2 cm3'],
    ['tier,even=yes', 'cm0'],
    ['i in (1,2)', 'cm1 cm2'],
    ['i notin (1,2)', 'cm0 cm3'],
    ['tier notin (web)', 'cm2 cm3'],
    ['i in (1, 2 ),even!=yes', 'cm1'],
    ['i>1', 'cm2 cm3'],
    ['i<2', 'cm0 cm1'],
    ['tier>1', ''],
    ['tier=', ''],
    ['tier in ()', ''],
    ['tier in (web,)', 'cm0 cm1'],
    ['nokey=x', ''],
    ['in in (notin)', ''],
    ['toString', ''],
  ];
  for (const [selector, chosen] of rows) {
    test(JSON.stringify(selector), () => {
      const requirements = parseLabelSelector(selector);
      const names = Object.keys(objects).filter((name) => matchesLabels(requirements, objects[name]));
      assert.equal(names.join(' '), chosen);
    });
  }

  test('an object without labels', () => {
    assert.equal(matchesLabels(parseLabelSelector('!a,b!=c'), undefined), true);
    assert.equal(matchesLabels(parseLabelSelector('a'), undefined), false);
  });
});

describe('what is wrong with a selector, in the words of Kubernetes 1.36', () => {
  const rows: [selector: string, message: string][] = [
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['!!a', "unable to parse requirement: found '!', expected: identifier"],
    ['!!', "unable to parse requirement: found '!', expected: identifier"],
    ['!a=b', "found '=', expected: ',' or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b c)', "unable to parse requirement: found 'c', expected: ',' or ')'"],
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a,', "found '', expected: identifier after ','"],
    ['bad key=x', "unable to parse requirement: found 'key', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    [
      'a>b',
      "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
  ];
  for (const [selector, message] of rows) {
    test(JSON.stringify(selector), () =>
      assert.equal(
        messageOf(() => parseLabelSelector(selector)),
        message,
      ),
    );
  }

  test('a key and a value that no label can have', () => {
    assert.match(
      messageOf(() => parseLabelSelector('-a=b')),
      /^unable to parse requirement: <nil>: Invalid value: "-a": name part must consist/,
    );
    assert.match(
      messageOf(() => parseLabelSelector('a=b_')),
      /^unable to parse requirement: values\[0\]\[a\]: Invalid value: "b_": a valid label must be/,
    );
  });
});

describe('labelSelectorFromObject', () => {
  test('both parts, sorted by key, values sorted', () => {
    const requirements = labelSelectorFromObject({
      matchLabels: { b: '1' },
      matchExpressions: [
        { key: 'c', operator: 'NotIn', values: ['y', 'x', 'y'] },
        { key: 'a', operator: 'Exists' },
        { key: 'd', operator: 'DoesNotExist' },
      ],
    });
    assert.equal(formatLabelSelector(requirements), 'a,b=1,c notin (x,y),!d');
  });

  test('the empty selector matches everything', () => {
    assert.deepEqual(labelSelectorFromObject({}), []);
    assert.equal(matchesLabels([], undefined), true);
  });

  test('what it cannot be', () => {
    const wrong = (operator: string, values?: string[]) =>
      messageOf(() =>
        labelSelectorFromObject({ matchExpressions: [{ key: 'a', operator, ...(values ? { values } : {}) }] }),
      );
    assert.equal(wrong('Like', ['x']), '"Like" is not a valid label selector operator');
    assert.equal(wrong('In'), "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
    assert.equal(
      wrong('Exists', ['x']),
      'values: Invalid value: ["x"]: values set must be empty for exists and does not exist',
    );
  });
});

const key = fc.stringMatching(/^([a-z]{1,5}\.com\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?$/);
const value = fc.stringMatching(/^([A-Za-z0-9]([-A-Za-z0-9_.]{0,5}[A-Za-z0-9])?)?$/);
const requirement: fc.Arbitrary<LabelRequirement> = fc
  .oneof(
    fc.tuple(key, fc.constantFrom('exists' as const, 'notexists' as const), fc.constant([])),
    fc.tuple(key, fc.constantFrom('=' as const, '!=' as const), fc.tuple(value)),
    fc.tuple(key, fc.constantFrom('>' as const, '<' as const), fc.tuple(fc.nat().map(String))),
    fc.tuple(
      key,
      fc.constantFrom('in' as const, 'notin' as const),
      fc.uniqueArray(value, { minLength: 1, maxLength: 4 }).map((values) => values.toSorted()),
    ),
  )
  .map(([key, operator, values]) => ({ key, operator, values }));

test('a formatted selector parses to what it was', () => {
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 5 }), (requirements) => {
      const parsed = parseLabelSelector(formatLabelSelector(requirements));
      const sorted = requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
      assert.deepEqual(parsed, sorted);
    }),
  );
});

test('of an operator and its opposite exactly one holds', () => {
  const labels = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('x', 'y', ''));
  const opposites = [
    ['a', '!a'],
    ['a=x', 'a!=x'],
    ['a in (x,y)', 'a notin (x,y)'],
    ['a=', 'a!='],
  ] as const;
  fc.assert(
    fc.property(labels, fc.constantFrom(...opposites), (object, [one, other]) => {
      assert.notEqual(matchesLabels(parseLabelSelector(one), object), matchesLabels(parseLabelSelector(other), object));
    }),
  );
});

test('any text parses or is refused with a 400', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'ab=!(),<> in'.split('')), maxLength: 20 }), (text) => {
      try {
        parseLabelSelector(text);
      } catch (error) {
        assert.ok(error instanceof StatusError && error.code === 400, String(error));
      }
    }),
  );
});
