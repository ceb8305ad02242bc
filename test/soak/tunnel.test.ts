import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestServer } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { memberProxyPath } from '@asterism/fleet/api';
import { CLUSTER_ROLE_BINDINGS, SECRETS } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import { call, TestFleet } from '../../packages/hub/src/testing/test-fleet.ts';
import { Relay } from '../cluster/relay.ts';
import { seededRandom } from './seeded-random.ts';

const BREAKS = 100;
const DEAD_MS = 60_000;
const ROTATION_MINUTES = Number(process.env['ASTERISM_SOAK_MINUTES'] ?? 10);
const ROTATION_MS = ROTATION_MINUTES * 60_000;
const CALLERS = 16;
/** Of each caller, from one break to the next: enough that a call which was lost is answered before. */
const CALLS_BETWEEN = { least: 5, most: 75 };
const DAY_MS = 86_400_000;
const LIFE_MS = 4_000;
const PATH = `${memberProxyPath('edge-1')}/api/v1/namespaces/default`;
const CREDENTIAL = { namespace: 'asterism-system', name: 'agent-credential' };

/** Calls that may be repeated, from several callers without a pause, until it is stopped. */
class Calls {
  readonly faults: string[] = [];
  done = 0;
  longestMs = 0;
  readonly #callers: Promise<void>[];
  #awaited: { done: number; resolve: () => void } | undefined;
  #over = false;

  constructor(client: Client) {
    this.#callers = Array.from({ length: CALLERS }, () => this.#keepCalling(client));
  }

  /** Resolves when so many more have ended. */
  async after(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awaited = { done: this.done + count, resolve };
    await promise;
  }

  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#callers);
  }

  async #keepCalling(client: Client): Promise<void> {
    while (!this.#over) {
      const began = performance.now();
      const { status, body } = await call(client, 'GET', PATH).catch((error: Error) => ({
        status: 0,
        body: error.message,
      }));
      this.longestMs = Math.max(this.longestMs, performance.now() - began);
      this.done += 1;
      if (status !== 200) this.faults.push(`${status}: ${body}`);
      if (this.done === this.#awaited?.done) this.#awaited.resolve();
    }
  }
}

/** A member in Pull whose agent comes to the hub through a relay; its certificates live for so long. */
class RelayedMember implements AsyncDisposable {
  readonly fleet: TestFleet;
  readonly member: TestServer;
  readonly admin: Client;
  readonly relay: Relay;

  private constructor(fleet: TestFleet, member: TestServer, relay: Relay) {
    this.fleet = fleet;
    this.member = member;
    this.relay = relay;
    this.admin = fleet.client(fleet.hub.adminConnection);
  }

  static async start(signingDurationMs: number): Promise<RelayedMember> {
    const fleet = await TestFleet.start({ signingDurationMs });
    const member = await fleet.startMember();
    await member.client.resource(CLUSTER_ROLE_BINDINGS).create({
      metadata: { name: 'hub-admins' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'asterism:admins' }],
    });
    const relay = await Relay.listen({ port: 0 }, { port: Number(new URL(fleet.hub.url).port) });
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    const hub = { server: `https://127.0.0.1:${relay.port}`, ca: fleet.hub.caPin, token };
    await fleet.join(member, { hub }).ready;
    await fleet.reached('edge-1');
    return new RelayedMember(fleet, member, relay);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fleet[Symbol.asyncDispose]();
    await this.relay[Symbol.asyncDispose]();
  }
}

test(`${BREAKS} reconnects under calls: none that may be repeated fails`, { timeout: 600_000 }, async (t) => {
  await using line = await RelayedMember.start(DAY_MS);
  const { admin, fleet, relay } = line;
  const random = seededRandom(t);
  const calls = new Calls(admin);
  for (let breaks = 0; breaks < BREAKS; breaks++) {
    const { least, most } = CALLS_BETWEEN;
    await calls.after(CALLERS * Math.round(least + random() * (most - least)));
    relay.breakOff();
  }
  await fleet.reached('edge-1');
  await calls.stop();
  t.diagnostic(`${calls.done} calls, the longest ${Math.round(calls.longestMs)} ms`);
  assert.deepEqual(calls.faults, []);
});

test(`the line is dead for ${DEAD_MS / 1000} s: calls say so, and go on when it is back`, {
  timeout: 180_000,
}, async (t) => {
  await using line = await RelayedMember.start(DAY_MS);
  const { admin, fleet, relay } = line;
  relay.cut();
  const cutAt = performance.now();
  const { status, body } = await call(admin, 'GET', PATH);
  const toldMs = performance.now() - cutAt;
  t.diagnostic(`told after ${Math.round(toldMs)} ms: ${status} ${body.slice(0, 200)}`);
  assert.ok(status >= 500 && status < 600 && body.includes('edge-1'), `${status}: ${body}`);
  assert.ok(toldMs < 20_000, `${toldMs} ms`);
  await delay(DEAD_MS - toldMs);
  relay.restore();
  const restoredAt = performance.now();
  await fleet.reached('edge-1');
  const backMs = performance.now() - restoredAt;
  t.diagnostic(`back after ${Math.round(backMs)} ms`);
  assert.ok(backMs < 5_000, `${backMs} ms`);
  assert.equal((await call(admin, 'GET', PATH)).status, 200);
});

test(`certificates are renewed for ${ROTATION_MINUTES} minutes: no call fails`, {
  timeout: ROTATION_MS + 300_000,
}, async (t) => {
  await using line = await RelayedMember.start(LIFE_MS);
  const { admin, member } = line;
  const certificates = new Set<string>();
  const calls = new Calls(admin);
  const { namespace, name } = CREDENTIAL;
  const selection = { namespace, fieldSelector: `metadata.name=${name}`, signal: AbortSignal.timeout(ROTATION_MS) };
  for await (const event of watchResource(member.client.resource(SECRETS), selection)) {
    if (event.type === 'InitApply' || event.type === 'Apply') certificates.add(event.object.data?.['tls.crt'] ?? '');
  }
  await calls.stop();
  t.diagnostic(`${certificates.size} certificates, ${calls.done} calls, the longest ${Math.round(calls.longestMs)} ms`);
  assert.deepEqual(calls.faults, []);
  assert.ok(certificates.size >= ROTATION_MS / LIFE_MS, `${certificates.size} certificates`);
});
