import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments, type Request } from './parse-arguments.ts';

const NAMES = ['apiserver', 'place'];

const cases: [args: string, request: Request][] = [
  ['', { kind: 'list' }],
  ['place', { kind: 'run', name: 'place', check: false }],
  ['place --json out.json --check', { kind: 'run', name: 'place', json: 'out.json', check: true }],
  ['--check place', { kind: 'run', name: 'place', check: true }],
  ['--render a.json b.json', { kind: 'render', files: ['a.json', 'b.json'] }],
];

for (const [args, request] of cases) {
  test(`parseArguments: ${args === '' ? 'nothing' : args}`, () => {
    assert.deepEqual(parseArguments(args.split(' ').filter(Boolean), NAMES), request);
  });
}

for (const [args, message] of [
  ['tunnel', /no bench "tunnel": there are apiserver, place/],
  ['toString', /no bench "toString"/],
  ['place apiserver', /one bench at a time: apiserver/],
  ['place --jsn x', /--jsn/],
  ['place --json', /--json/],
  ['--check', /name the bench/],
  ['--render', /name the files/],
  ['--render a.json --check', /runs no bench/],
] as const) {
  test(`parseArguments: refuses ${args}`, () => {
    const request = parseArguments(args.split(' '), NAMES);
    assert.equal(request.kind, 'usage');
    assert.match(request.kind === 'usage' ? request.message : '', message);
  });
}
