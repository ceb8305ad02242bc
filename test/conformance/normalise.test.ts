import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { normalise } from './normalise.ts';
import type { StepAnswers } from './run-scenario.ts';
import type { Scenario } from './scenario.ts';

const UID_A = '11111111-2222-4333-8444-555555555555';
const UID_B = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee';

function asked(sent: unknown): Scenario {
  const request = { method: 'POST', path: '/x', body: sent };
  return { name: 's', area: 'a', steps: [{ request, response: { status: 200, headers: {} } }] };
}

function normalised(bodies: unknown[], sent: unknown = {}): unknown[] {
  const steps = bodies.map(
    (body): StepAnswers => ({
      what: '',
      answers: [{ status: 200, headers: {}, body }],
      events: [],
    }),
  );
  return normalise(asked(sent), steps).map((step) => (step as { answers: { body: unknown }[] }).answers[0]?.body);
}

describe('what no two servers have in common is taken out', () => {
  const cases: { name: string; body: unknown; sent?: unknown; becomes: unknown }[] = [
    {
      name: 'uids, by first appearance',
      body: [UID_B, `x${UID_A}`, UID_B],
      becomes: ['<uid-0>', 'x<uid-1>', '<uid-0>'],
    },
    { name: 'a uid that was sent stays', body: UID_A, sent: UID_A, becomes: UID_A },
    { name: 'times', body: 'at 2026-01-02T03:04:05Z', becomes: 'at <time>' },
    {
      name: 'a time that was sent stays',
      body: '2026-01-02T03:04:05Z',
      sent: '2026-01-02T03:04:05Z',
      becomes: '2026-01-02T03:04:05Z',
    },
    { name: 'service addresses', body: ['10.0.0.7', '10.0.0.9', '10.0.0.7'], becomes: ['<ip-0>', '<ip-1>', '<ip-0>'] },
    { name: 'node ports', body: { nodePort: 31_000, port: 80 }, becomes: { nodePort: '<port>', port: 80 } },
    {
      name: 'a node port that was sent stays',
      body: { nodePort: 31_000 },
      sent: { nodePort: 31_000 },
      becomes: { nodePort: 31_000 },
    },
    {
      name: 'ages in cells, and only there',
      body: { cells: ['5s', '6y324d', 'web'], x: '5s' },
      becomes: { cells: ['<age>', '<age>', 'web'], x: '5s' },
    },
    { name: 'continue', body: { continue: 'abc' }, becomes: { continue: '<continue>' } },
    { name: 'an empty continue stays', body: { continue: '' }, becomes: { continue: '' } },
    {
      name: 'versions in messages',
      body: 'resource version: 9, current: 5',
      becomes: 'resource version: <version>, current: <version>',
    },
    {
      name: 'the values of /version',
      body: { gitVersion: 'v1', goVersion: 'x' },
      becomes: ['gitVersion', 'goVersion'],
    },
    {
      name: 'generated names, in all strings',
      body: { name: 'web-abcde', generateName: 'web-', message: '"web-abcde" is there' },
      becomes: { name: 'web-<generated-0>', generateName: 'web-', message: '"web-<generated-0>" is there' },
    },
  ];
  for (const { name, body, sent, becomes } of cases) {
    test(name, () => assert.deepEqual(normalised([body], sent), [becomes]));
  }
});

describe('versions', () => {
  const object = (resourceVersion: string): unknown => ({ metadata: { name: 'a', resourceVersion } });
  const versionsOf = (bodies: unknown[]): unknown[] =>
    normalised(bodies).map((body) => (body as { metadata: { resourceVersion: string } }).metadata.resourceVersion);

  test('of objects become ranks, so order and equality are compared', () => {
    assert.deepEqual(versionsOf([object('100'), object('9'), object('100')]), [
      '<version-1>',
      '<version-0>',
      '<version-1>',
    ]);
  });

  test('of lists are any, but not older than an object that was seen', () => {
    const list = (resourceVersion: string): unknown => ({ metadata: { resourceVersion } });
    assert.deepEqual(versionsOf([object('50'), list('50'), list('71'), list('49')]), [
      '<version-0>',
      '<version>',
      '<version>',
      '<an older version>',
    ]);
  });
});
