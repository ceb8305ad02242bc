import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, Clock } from '@asterism/client';
import { failure } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { shareCredential } from './share-credential.ts';

/** A clock that stands still until somebody waits, and then jumps to the end of that. */
function jumpingClock(): Clock & { at: number; waits: number[] } {
  return {
    at: 0,
    waits: [],
    wall() {
      return new Date(this.at);
    },
    monotonic() {
      return this.at;
    },
    setTimer(callback, ms) {
      this.waits.push(ms);
      const timer = setImmediate(() => {
        this.at += ms;
        callback();
      });
      return () => clearImmediate(timer);
    },
  };
}

test('the hub gets another token when the member refuses the one that it has', async () => {
  const clock = jumpingClock();
  const stop = new AbortController();
  const given: [minute: number, token: string][] = [];
  const asked: string[] = [];
  let issued = 0;
  const create = async () => {
    const expirationTimestamp = new Date(clock.at + 3_600_000).toISOString();
    return { status: { token: `token ${++issued}`, expirationTimestamp } };
  };
  const patch = async (_: unknown, { body }: { body: { data: { token: string } } }) => {
    given.push([Math.floor(clock.at / 60_000), Buffer.from(body.data.token, 'base64').toString()]);
    if (given.length === 2) stop.abort();
  };
  const answers = [new Error('the member is away'), false, true];
  const isRefused = async (token: string) => {
    asked.push(token);
    const answer = answers.shift() ?? false;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const member = { resource: () => ({ create }) } as unknown as Client;
  const hub = { resource: () => ({ patch }) } as unknown as Client;
  await shareCredential({ clusterName: 'edge-1', member, hub, logger: silentLogger, clock, isRefused }, stop.signal);
  assert.deepEqual(asked, ['token 1', 'token 1', 'token 1']);
  assert.deepEqual(
    given.map(([, token]) => token),
    ['token 1', 'token 2'],
  );
  assert.ok((given[1]?.[0] ?? 40) < 40, `after ${given[1]?.[0]} minutes`);
});

test('the hub gets a token, another when two thirds of its life are over, and soon after a failure', async () => {
  const clock = jumpingClock();
  const stop = new AbortController();
  const given: { at: number; token: string; path: string }[] = [];
  let asked = 0;
  const member = {
    resource: () => ({
      create: async () => {
        asked += 1;
        if (asked === 2) throw failure(503, 'the member is busy');
        const expirationTimestamp = new Date(clock.at + 3_600_000).toISOString();
        return { status: { token: `token ${asked}`, expirationTimestamp } };
      },
    }),
  } as unknown as Client;
  const hub = {
    resource: () => ({
      patch: async (ref: { namespace: string; name: string }, { body }: { body: { data: { token: string } } }) => {
        const token = Buffer.from(body.data.token, 'base64').toString();
        given.push({ at: clock.at, token, path: `${ref.namespace}/${ref.name}` });
        if (given.length === 2) stop.abort();
      },
    }),
  } as unknown as Client;
  let first = 0;
  const onFirst = (): void => {
    first += 1;
  };
  await shareCredential({ clusterName: 'edge-1', member, hub, logger: silentLogger, clock, onFirst }, stop.signal);
  const path = 'asterism-cluster-edge-1/hub-credential';
  assert.deepEqual(given, [
    { at: 0, token: 'token 1', path },
    { at: 2_400_000 + 5_000, token: 'token 3', path },
  ]);
  assert.equal(first, 1);
});
