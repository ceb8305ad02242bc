import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerProbe, type ProbeCheck } from './answer-probe.ts';

const well: ProbeCheck = { name: 'ping', check: () => undefined };
const unwell: ProbeCheck = { name: 'disk', check: async () => 'full\n[+]forged ok' };
const broken: ProbeCheck = { name: 'db/main', check: () => Promise.reject(new Error('password hunter2 refused')) };

const CASES: [name: string, checks: readonly ProbeCheck[], path: string, status: number, text: string][] = [
  ['all well', [well], '/readyz', 200, 'ok'],
  ['all well, in words', [well], '/readyz?verbose', 200, '[+]ping ok\n[ ]a remark\nreadyz check passed\n'],
  [
    'what is wrong is said, in one line',
    [well, unwell],
    '/readyz',
    500,
    '[+]ping ok\n[-]disk failed: full [+]forged ok\n[ ]a remark\nreadyz check failed\n',
  ],
  [
    'what is thrown is not said',
    [broken],
    '/readyz',
    500,
    '[-]db/main failed: reason withheld\n[ ]a remark\nreadyz check failed\n',
  ],
  ['an excluded one', [unwell], '/readyz?exclude=disk', 200, 'ok'],
  [
    'an excluded one that is not there',
    [well],
    '/readyz?exclude=x&verbose',
    200,
    '[+]ping ok\n[ ]a remark\nwarn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
  ],
  ['one alone', [unwell, well], '/readyz/ping', 200, 'ok'],
  ['one alone that is not well', [unwell, well], '/readyz/disk/', 500, 'disk failed: full [+]forged ok\n'],
  ['one alone with a path for a name', [broken, well], '/readyz/db/main', 500, 'db/main failed: reason withheld\n'],
  ['one that is not there', [well], '/readyz/x', 404, 'readyz has no check "x"\n'],
];

describe('a probe answers', () => {
  for (const [name, checks, target, status, text] of CASES) {
    test(name, async () => {
      const { pathname, searchParams } = new URL(`http://localhost${target}`);
      const errors: string[] = [];
      const onError = (check: string, error: unknown): void => void errors.push(`${check}: ${String(error)}`);
      const remarks = (): string[] => ['a remark'];
      const { signal } = new AbortController();
      const probe = { name: 'readyz', checks, remarks, onError, signal };
      assert.deepEqual(await answerProbe(probe, pathname, searchParams), { status, text });
      const told = text.includes('withheld') ? ['db/main: Error: password hunter2 refused'] : [];
      assert.deepEqual(errors, told);
    });
  }

  test('a check that never ends has failed when its time is over', async () => {
    const abort = new AbortController();
    const hangs: ProbeCheck = { name: 'hangs', check: () => new Promise(() => {}) };
    const probe = { name: 'readyz', checks: [well, hangs], onError: () => {}, signal: abort.signal };
    const answer = answerProbe(probe, '/readyz', new URLSearchParams());
    abort.abort(new Error('too late'));
    assert.equal((await answer).text, '[+]ping ok\n[-]hangs failed: reason withheld\nreadyz check failed\n');
  });
});
