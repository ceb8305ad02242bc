import assert from 'node:assert/strict';
import { Duplex, PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { ManualClock, until } from '@asterism/client/testing';
import { startTunnel } from '../testing/start-tunnel.ts';
import { TunnelError } from '../tunnel-error.ts';
import type { CarrierKind } from '../wire/carriers.ts';
import { dialCarriers } from './dial-carriers.ts';

const OFFER = { kind: 'long', instance: 'a', slot: 0 } as const;
const RETRY_MS = 1_000;

type Outcome = 'opens' | 'hangs' | Error;

/** A dialler whose line does what `outcomes` say of each carrier, and what it tried. */
function diallerOf(outcomes: Record<CarrierKind, Outcome | (() => Outcome)>) {
  const clock = new ManualClock();
  const tried: CarrierKind[] = [];
  const opened: Duplex[] = [];
  const dialler = dialCarriers({
    clock,
    retryMs: RETRY_MS,
    patienceMs: 100,
    async dial(kind, _offer, signal) {
      tried.push(kind);
      const given = outcomes[kind];
      const outcome = typeof given === 'function' ? given() : given;
      if (outcome instanceof Error) throw outcome;
      if (outcome === 'hangs') {
        return await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
      }
      const socket = new PassThrough();
      const carrier = kind === 'upgrade' ? socket : Object.assign(new PassThrough(), { line: socket });
      opened.push(carrier);
      return carrier;
    },
  });
  const signal = new AbortController().signal;
  const dial = async (): Promise<string> => {
    tried.length = 0;
    const outcome = await dialler.dial(OFFER, signal).then(
      () => 'opens',
      (error: Error) => error.message,
    );
    return `${tried.join(' ')}: ${outcome}`;
  };
  return { dialler, dial, clock, tried, opened, outcomes };
}

const blocked = new TunnelError('BLOCKED', 'a box said 403', { retryAfterMs: 10_000 });

describe('the choice between carriers', () => {
  test('an upgrade that passes is all there is', async () => {
    const { dial } = diallerOf({ upgrade: 'opens', websocket: 'opens' });
    assert.equal(await dial(), 'upgrade: opens');
    assert.equal(await dial(), 'upgrade: opens');
  });

  test('a blocked upgrade is tried once more behind the WebSocket that opened, then WebSocket is kept to', async () => {
    const { dial, dialler, clock } = diallerOf({ upgrade: blocked, websocket: 'opens' });
    assert.equal(await dial(), 'upgrade websocket upgrade: opens');
    assert.equal(dialler.kind, 'websocket');
    assert.equal(await dial(), 'websocket: opens');
    clock.advance(RETRY_MS);
    assert.equal(await dial(), 'upgrade websocket: opens', 'now and then');
    assert.equal(await dial(), 'websocket: opens');
  });

  test('setting the clock changes nothing: only time that has passed makes the upgrade due', async () => {
    const { dial, clock } = diallerOf({ upgrade: blocked, websocket: 'opens' });
    await dial();
    clock.setWall(10 * RETRY_MS);
    assert.equal(await dial(), 'websocket: opens');
    clock.setWall(-100 * RETRY_MS);
    clock.advance(RETRY_MS);
    assert.equal(await dial(), 'upgrade websocket: opens');
  });

  test('the upgrade is gone back to when it passes again', async () => {
    const line = diallerOf({ upgrade: blocked, websocket: 'opens' });
    await line.dial();
    line.outcomes.upgrade = 'opens';
    assert.equal(await line.dial(), 'websocket: opens');
    line.clock.advance(RETRY_MS);
    assert.equal(await line.dial(), 'upgrade: opens');
    assert.equal(line.dialler.kind, 'upgrade');
    assert.equal(await line.dial(), 'upgrade: opens');
  });

  test('a hub that came up between the two tries is no box: the upgrade is kept to', async () => {
    let tries = 0;
    const { dial, dialler, opened } = diallerOf({
      upgrade: () => (++tries === 1 ? blocked : 'opens'),
      websocket: 'opens',
    });
    assert.equal(await dial(), 'upgrade websocket upgrade: opens');
    assert.equal(dialler.kind, 'upgrade');
    assert.deepEqual(
      opened.map(({ destroyed }) => destroyed),
      [true, false],
    );
  });

  const judged: [name: string, error: Error][] = [
    ['refuses', new TunnelError('REFUSED', 'the hub answered 403')],
    ['is not reached', Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })],
  ];
  for (const [name, error] of judged) {
    test(`a hub that ${name} is not asked by WebSocket`, async () => {
      const { dial } = diallerOf({ upgrade: error, websocket: 'opens' });
      assert.equal(await dial(), `upgrade: ${error.message}`);
    });
  }

  test('where neither passes both are told, the shorter wait is taken, and all begins anew', async () => {
    const other = new TunnelError('BLOCKED', 'a box said 503', { retryAfterMs: 1_000 });
    const { dial, dialler } = diallerOf({ upgrade: blocked, websocket: other });
    const both =
      'the tunnel does not get through, neither by an upgrade (a box said 403), nor by WebSocket (a box said 503)';
    assert.equal(await dial(), `upgrade websocket: ${both}`);
    assert.equal(await dial(), `upgrade websocket: ${both}`);
    await assert.rejects(dialler.dial(OFFER, new AbortController().signal), {
      code: 'ERR_TUNNEL_BLOCKED',
      retryAfterMs: 1_000,
    });
  });

  test('a WebSocket that passes no more leads back to the upgrade', async () => {
    const line = diallerOf({ upgrade: blocked, websocket: 'opens' });
    await line.dial();
    line.outcomes.websocket = new TunnelError('BLOCKED', 'a box said 502');
    line.outcomes.upgrade = 'opens';
    assert.equal(await line.dial(), 'websocket: the tunnel does not get through, not by WebSocket (a box said 502)');
    assert.equal(await line.dial(), 'upgrade: opens');
  });

  test('an upgrade that nobody answers costs its patience once', async () => {
    const { dial, clock, tried } = diallerOf({ upgrade: 'hangs', websocket: 'opens' });
    const dialling = dial();
    clock.advance(100);
    assert.equal(await dialling, 'upgrade websocket: opens');
    assert.equal(await dial(), 'websocket: opens');
    assert.deepEqual(tried, ['websocket']);
  });

  test('an upgrade that opens and carries nothing counts as blocked the second time, not where one worked in between', async () => {
    const { dial, dialler } = diallerOf({ upgrade: 'opens', websocket: 'opens' });
    const tell = (works: boolean) => dialler.onTried(new PassThrough(), works);
    tell(false);
    tell(true);
    tell(false);
    assert.equal(await dial(), 'upgrade: opens');
    tell(false);
    assert.equal(await dial(), 'websocket: opens');
    assert.equal(await dial(), 'websocket: opens', 'it is kept to');
  });

  test('an agent gets through a box that switches protocols and then lets nothing pass', async () => {
    await using tunnel = await startTunnel({ handler: (_request, response) => response.end('through') });
    await using websocket = await startTunnel({ carrier: 'websocket' });
    const kinds: CarrierKind[] = [];
    const carriers = dialCarriers({
      async dial(kind, offer, signal) {
        kinds.push(kind);
        if (kind === 'websocket') return await websocket.dial('edge', offer, signal, tunnel.hubPort);
        return new Duplex({ read: () => {}, write: (_chunk, _encoding, done) => done() });
      },
    });
    const limits = { handshakeTimeoutMs: 100 };
    await tunnel.startAgent('edge', { dial: carriers.dial, onTried: carriers.onTried, limits });
    assert.equal((await tunnel.hub.transport('edge').request({ method: 'GET', path: '/' })).status, 200);
    await until(() => carriers.kind === 'websocket');
    assert.equal(kinds.filter((kind) => kind === 'upgrade').length, 2);
  });
});
