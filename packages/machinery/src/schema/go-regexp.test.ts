import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileGoPattern, goPatternError } from './go-regexp.ts';

describe('patterns written for Go', () => {
  const rows: [pattern: string, matches: string[], fails: string[]][] = [
    ['^[a-z]+$', ['abc'], ['ABC', 'a\n']],
    ['b', ['abc'], ['ac']],
    ['\\Aa\\z', ['a'], ['ba', 'ab']],
    ['(?P<first>a)b', ['ab'], ['ba']],
    ['(?i)^abc$', ['ABC'], ['abd']],
    ['^[[:alpha:]_-]+$', ['a_b-'], ['a1']],
    ['^[[:punct:]]$', ['~', '[', '/'], ['a']],
    ['^\\d{1,3}$', ['123'], ['1234']],
    ['^.$', ['日'], ['ab']],
    ['^[\\w.-]+$', ['a.b-c'], ['a b']],
  ];
  for (const [pattern, matches, fails] of rows) {
    test(pattern, () => {
      const regexp = compileGoPattern(pattern)!;
      for (const text of matches) assert.ok(regexp.test(text), `${text} matches`);
      for (const text of fails) assert.ok(!regexp.test(text), `${text} does not match`);
      assert.equal(goPatternError(pattern), undefined);
    });
  }
});

describe('patterns that Go refuses', () => {
  const rows: [pattern: string, error: string][] = [
    ['[a', 'error parsing regexp: missing closing ]: `[a`'],
    ['(a', 'error parsing regexp: missing closing ): `(a`'],
    ['a)', 'error parsing regexp: unexpected ): `a)`'],
    ['*a', 'error parsing regexp: missing argument to repetition operator: `*`'],
    ['a(?=b)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?=`'],
    ['(a)\\1', 'error parsing regexp: invalid escape sequence: `\\1`'],
    ['a**', 'error parsing regexp: invalid nested repetition operator: `**`'],
    ['x{2}{3}', 'error parsing regexp: invalid nested repetition operator: `{2}{3}`'],
    ['a{2,1}', 'error parsing regexp: invalid repeat count: `{2,1}`'],
    ['a{1001}', 'error parsing regexp: invalid repeat count: `{1001}`'],
    ['(a{500}){3}', 'error parsing regexp: invalid repeat count: `{3}`'],
    ['a|*', 'error parsing regexp: missing argument to repetition operator: `*`'],
    ['[z-a]', 'error parsing regexp: invalid character class range: `z-a`'],
    ['[[:foo:]]', 'error parsing regexp: invalid character class range: `[:foo:]`'],
    ['\\p{Klingon}', 'error parsing regexp: invalid character class range: `\\p{Klingon}`'],
    ['(?P<a', 'error parsing regexp: invalid named capture: `(?P<a`'],
    ['(?P<>x)', 'error parsing regexp: invalid named capture: `(?P<>`'],
    ['(?i', 'error parsing regexp: invalid or unsupported Perl syntax: `(?i`'],
    ['(?>a)', 'error parsing regexp: invalid or unsupported Perl syntax: `(?>`'],
    ['\\Z', 'error parsing regexp: invalid escape sequence: `\\Z`'],
    ['\\xZ', 'error parsing regexp: invalid escape sequence: `\\xZ`'],
    ['\\x{110000}', 'error parsing regexp: invalid escape sequence: `\\x{110000`'],
    ['a\\', 'error parsing regexp: trailing backslash at end of expression: ``'],
  ];
  for (const [pattern, error] of rows) test(pattern, () => assert.equal(goPatternError(pattern), error));
});

describe('what JavaScript reads otherwise and Go takes', () => {
  for (const pattern of [
    '\\b*',
    '{',
    'a{,2}',
    'a{2',
    '\\_',
    '\\Qa(\\E',
    '[]a]',
    '(|a)*',
    '[\\d-z]',
    '(?U)a+',
    '\\pL',
    '\\123',
    '(?<n>a)',
  ]) {
    test(pattern, () => assert.equal(goPatternError(pattern), undefined));
  }
});
