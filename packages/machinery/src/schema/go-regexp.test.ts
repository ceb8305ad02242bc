import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileGoPattern, type GoPattern } from './go-regexp.ts';

const compile = (text: string): GoPattern => {
  const { pattern, error } = compileGoPattern(text);
  return pattern ?? assert.fail(error);
};
const errorOf = (text: string): string | undefined => compileGoPattern(text).error;

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
    ['^(?:a|bc)*$', ['', 'abca'], ['ac']],
    ['^a{2,3}$', ['aa', 'aaa'], ['a', 'aaaa']],
    ['^a{2,}b{0}$', ['aa', 'aaaaa'], ['a', 'aab']],
    ['^(a{2}|b){2}$', ['aab', 'bb'], ['ab']],
    ['a{,2}', ['a{,2}'], ['aa']],
    ['^a(?i)b(?-i)c$', ['aBc', 'abc'], ['ABc', 'abC']],
    ['^(?i:ä[x-z])$', ['ÄY', 'äz'], ['Äa']],
    ['(?i)^[^k]$', ['l'], ['K', 'k']],
    ['(?m)^b$', ['a\nb\nc'], ['a b']],
    ['^a.c$', ['abc'], ['a\nc']],
    ['(?s)^a.c$', ['a\nc'], ['ac']],
    ['\\bcat\\b', ['a cat'], ['concat', 'cats']],
    ['a\\Bb', ['ab'], ['a b']],
    ['^\\pL\\p{Nd}\\P{L}$', ['日1!'], ['11!', 'a1b']],
    ['^[\\p{Greek}_]+$', ['αβ_'], ['ab']],
    ['^[^[:space:]\\d]+$', ['a-b'], ['a1', 'a b']],
    ['^\\x41\\x{1F600}\\101\\t$', ['A😀A\t'], ['A😀A']],
    ['^\\Qa.b\\E+$', ['a.bb'], ['axb']],
    ['^[]a-]+$', [']a-'], ['b']],
    ['^\\s$', [' ', '\t'], ['\u00a0', '\v']],
    ['', ['', 'a'], []],
  ];
  for (const [pattern, matches, fails] of rows) {
    test(pattern, () => {
      const regexp = compile(pattern);
      for (const text of matches) assert.ok(regexp.test(text), `${text} matches`);
      for (const text of fails) assert.ok(!regexp.test(text), `${text} does not match`);
    });
  }
});

describe('a pattern takes no longer for any text', () => {
  for (const pattern of [
    '^(a+)+$',
    '(?i)^(a+)+$',
    '^(?i:(a+)+)$',
    '^(\\pL+)+$',
    '^(\\x61|a+)+$',
    '^((a{0,30}){0,30})*$',
    '^(((((((a+)+)+)+)+)+)+)+$',
    '.*.*.*.*=.*',
  ]) {
    test(pattern, { timeout: 10_000 }, () => {
      assert.equal(compile(pattern).test(`${'a'.repeat(50_000)}!`), false);
    });
  }

  test('nor more memory, whatever the texts were', () => {
    const matcher = compile('^.(a|b)*a(a|b){50}$');
    const text = Array.from({ length: 20_000 }, (_, i) => (Math.sin(i * i) > 0 ? 'a' : 'b')).join('');
    assert.equal(matcher.test(`${text}c`), false);
    assert.equal(matcher.test(`${text}a${'b'.repeat(50)}`), true);
  });

  test('one that is nested too deep is none', () => {
    assert.match(
      errorOf(`${'('.repeat(2000)}${')'.repeat(2000)}`)!,
      /^error parsing regexp: expression nests too deeply: /,
    );
  });
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
  for (const [pattern, error] of rows) test(pattern, () => assert.equal(errorOf(pattern), error));
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
    test(pattern, () => assert.equal(errorOf(pattern), undefined));
  }
});
