import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  generateName,
  validateAnnotations,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
  validateLabels,
  validatePathSegmentName,
  validateQualifiedName,
} from './names.ts';

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const QUALIFIED_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const rules: [rule: (text: string) => string[], text: string, faults: string[]][] = [
  [validateDns1123Label, 'a', []],
  [validateDns1123Label, '0-a', []],
  [validateDns1123Label, 'a'.repeat(63), []],
  [validateDns1123Label, 'a'.repeat(64), ['must be no more than 63 characters']],
  [validateDns1123Label, 'a.b', ['must not contain dots']],
  [
    validateDns1123Label,
    'A',
    [
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [validateDns1123Subdomain, 'a.b-c.d', []],
  [validateDns1123Subdomain, 'a..b', [SUBDOMAIN_RULE]],
  [validateDns1123Subdomain, 'a\n', [SUBDOMAIN_RULE]],
  [validateDns1123Subdomain, '', [SUBDOMAIN_RULE]],
  [validateDns1123Subdomain, 'a'.repeat(254), ['must be no more than 253 characters']],
  [validateDns1035Label, 'a-1', []],
  [
    validateDns1035Label,
    '1-a',
    [
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [validatePathSegmentName, 'system:a b', []],
  [validatePathSegmentName, '..', ["may not be '..'"]],
  [validatePathSegmentName, 'a/%', ["may not contain '/'", "may not contain '%'"]],
  [validateQualifiedName, 'example.com/My_Name.1', []],
  [validateQualifiedName, 'bad key', [`name part ${QUALIFIED_RULE}`]],
  [validateQualifiedName, '', ['name part must be non-empty', `name part ${QUALIFIED_RULE}`]],
  [validateQualifiedName, '/a', ['prefix part must be non-empty']],
  [validateQualifiedName, 'Example.com/a', [`prefix part ${SUBDOMAIN_RULE}`]],
  [validateQualifiedName, 'a'.repeat(64), ['name part must be no more than 63 bytes']],
  [
    validateQualifiedName,
    'a/b/c',
    [`a qualified name ${QUALIFIED_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`],
  ],
  [validateLabelValue, '', []],
  [validateLabelValue, 'a_b.c', []],
  [validateLabelValue, 'x'.repeat(64), ['must be no more than 63 bytes']],
  [
    validateLabelValue,
    '-',
    [
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
];

describe('what is wrong with a text, in the words of Kubernetes 1.36', () => {
  for (const [rule, text, faults] of rules) {
    const shown = text.length > 20 ? `${text.length} characters` : JSON.stringify(text);
    test(`${rule.name} ${shown}`, () => assert.deepEqual(rule(text), faults));
  }
});

test('the faults of labels name the key or the value', () => {
  assert.deepEqual(validateLabels({ a: 'b', 'c/d': '' }, 'metadata.labels'), []);
  assert.deepEqual(validateLabels({ 'bad key': 'x', a: 'é'.repeat(32) }, 'metadata.labels'), [
    {
      type: 'FieldValueInvalid',
      field: 'metadata.labels',
      message: `Invalid value: "bad key": name part ${QUALIFIED_RULE}`,
    },
    {
      type: 'FieldValueInvalid',
      field: 'metadata.labels',
      message: `Invalid value: "${'é'.repeat(32)}": must be no more than 63 bytes`,
    },
    {
      type: 'FieldValueInvalid',
      field: 'metadata.labels',
      message: `Invalid value: "${'é'.repeat(32)}": ${validateLabelValue('é')[0]}`,
    },
  ]);
});

test('annotations may have any value, keys of any case, and 256 KiB in all', () => {
  assert.deepEqual(validateAnnotations({ 'Example.com/a': 'any thing', k: 'x'.repeat(262_144 - 23) }, 'f'), []);
  assert.deepEqual(validateAnnotations({ k: 'x'.repeat(262_144) }, 'metadata.annotations'), [
    {
      type: 'FieldValueTooLong',
      field: 'metadata.annotations',
      message: 'Too long: may not be more than 262144 bytes',
    },
  ]);
});

test('a generated name is the base and five letters, and a valid label if the base is one', () => {
  assert.equal(
    generateName('web-', () => 0),
    'web-bbbbb',
  );
  assert.equal(
    generateName('web-', () => 0.999999),
    'web-99999',
  );
  assert.equal(generateName('x'.repeat(100), () => 0).length, 63);
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z0-9][-a-z0-9]{0,80}$/),
      fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
      (base, random) => {
        const name = generateName(base, () => random.next().value ?? 0);
        assert.deepEqual(validateDns1123Label(name), []);
      },
    ),
  );
});
