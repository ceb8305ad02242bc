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
    ['a\\', 'error parsing regexp: trailing backslash at end of expression: ``'],
  ];
  for (const [pattern, error] of rows) test(pattern, () => assert.equal(goPatternError(pattern), error));
});
