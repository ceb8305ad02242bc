import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { compareKeys, writeYaml } from './write-yaml.ts';

describe('YAML as upstream writes it', () => {
  const rows: [what: string, value: unknown, yaml: string][] = [
    [
      'members are sorted, lists are not indented',
      { b: [{ d: 1, c: [] }, 'x'], a: {} },
      'a: {}\nb:\n- c: []\n  d: 1\n- x\n',
    ],
    ['lists in lists', { a: [[1, [2]], []] }, 'a:\n- - 1\n  - - 2\n- []\n'],
    [
      'values of all types',
      { z: null, t: true, i: 3, f: 1.5, big: 1500000.5 },
      'big: 1.5000005e+06\nf: 1.5\ni: 3\nt: true\nz: null\n',
    ],
    [
      'text that looks like something else',
      { a: '1', b: 'true', c: 'y', d: '', e: '~', f: '1e3', g: '0x1F', h: '2020-01-01' },
      'a: "1"\nb: "true"\nc: "y"\nd: ""\ne: "~"\nf: "1e3"\ng: "0x1F"\nh: "2020-01-01"\n',
    ],
    ['a time', { at: '2026-11-21T11:58:14Z' }, 'at: "2026-11-21T11:58:14Z"\n'],
    ['keys that look like something else', { true: 1, '5': 2, no: 3 }, '"5": 2\n"no": 3\n"true": 1\n'],
    [
      'indicators',
      { a: 'x: y', b: '- a', c: '-a', d: "it's", e: '#x', f: 'x #y', g: '*x', h: 'a:b', i: '{' },
      "a: 'x: y'\nb: '- a'\nc: -a\nd: it's\ne: '#x'\nf: 'x #y'\ng: '*x'\nh: a:b\ni: '{'\n",
    ],
    ['blanks at the ends', { a: ' x', b: 'x ' }, "a: ' x'\nb: 'x '\n"],
    [
      'several lines',
      { a: 'x\ny\n', b: 'x\ny', c: 'x\n\n', d: ' x\ny\n' },
      'a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2\n   x\n  y\n',
    ],
    ['lines that end in blanks', { a: 'x \ny' }, 'a: "x \\ny"\n'],
    ['unprintable signs', { a: 'x\ty', b: '\u0001' }, 'a: "x\\ty"\nb: "\\x01"\n'],
    ['letters of all scripts', { a: 'ä 本' }, 'a: ä 本\n'],
    [
      'a long line is folded behind the eightieth column',
      {
        message:
          'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
      },
      "message: 'only the following media types are accepted: application/json;stream=watch,\n  application/vnd.kubernetes.protobuf;stream=watch'\n",
    ],
    ['a value alone', 'x', 'x\n'],
  ];
  for (const [what, value, yaml] of rows) {
    test(what, () => {
      assert.equal(writeYaml(value), yaml);
      assert.deepEqual(parse(yaml, { version: '1.1' }), value);
    });
  }
});

describe('keys are in the order of numbers within them', () => {
  const rows: [sorted: string[]][] = [
    [['a1', 'a2', 'a10']],
    [['.', 'f:a', 'f:b']],
    [['a', 'a-b', 'aa']],
    [['Z', 'a', 'z']],
    [['a', 'ab']],
    [['1', 'a']],
  ];
  for (const [sorted] of rows) {
    test(sorted.join(' '), () => assert.deepEqual(sorted.toReversed().toSorted(compareKeys), sorted));
  }
});
