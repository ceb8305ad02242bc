import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createCertificateAuthority, type KeyPair, signRequest } from '@asterism/apiserver';
import { type Client, type Connection, type HttpTransport, Refusals } from '@asterism/client';
import { createAgentKey } from '@asterism/fleet/join';
import { failure, type KubeObject, type ResourceType } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { keepCertificate } from './keep-certificate.ts';
import { jumpingClock } from './testing/jumping-clock.ts';

const DAY = 24 * 60 * 60 * 1000;
const MINUTE = 60_000;

type Outcome = 'signed' | 'denied' | 'unsigned' | 'away' | 'not kept';

/** An agent that keeps its certificate at a hub that deals with each request as told, and is stopped after the last. */
class Run {
  readonly clock = jumpingClock();
  readonly events: string[] = [];
  readonly refusals = new Refusals();
  readonly key = createAgentKey();
  readonly #ca: KeyPair;
  readonly #left: Outcome[];
  readonly #stop = new AbortController();
  #outcome: Outcome = 'signed';
  #request: KubeObject | undefined;

  constructor(ca: KeyPair, outcomes: Outcome[]) {
    this.#ca = ca;
    this.#left = [...outcomes];
  }

  async start(): Promise<this> {
    const csr = await this.#csr();
    const certificate = await signRequest(this.#ca, csr, { usages: ['client'], seconds: 30 * 86_400, now: 0 });
    const certified = {
      client: this.#hub(),
      transport: { replaceConnection: (connection: Connection) => this.#used(connection) } as unknown as HttpTransport,
      connection: { server: 'https://hub', credential: { kind: 'none' } } as Connection,
      credential: { key: this.key, certificate },
      issuedNow: true,
      refusals: this.refusals,
    };
    const options = { clusterName: 'edge-1', hub: certified, member: this.#member(), logger: silentLogger };
    await keepCertificate({ ...options, clock: this.clock, random: () => 0 }, this.#stop.signal);
    return this;
  }

  async #csr(): Promise<string> {
    const { agentCertificateRequest } = await import('@asterism/fleet/join');
    const { spec } = agentCertificateRequest('edge-1', this.key, { name: 'r' });
    return Buffer.from(spec.request, 'base64').toString();
  }

  #at(text: string): void {
    this.events.push(`${(this.clock.wall().getTime() / DAY).toFixed(2)} ${text}`);
  }

  #used({ credential }: Connection): void {
    this.#at(credential.kind === 'certificate' && credential.key === this.key ? 'used' : 'wrong');
  }

  #hub(): Client {
    const requests = {
      create: async (request: KubeObject) => {
        this.#outcome = this.#left.shift() ?? 'signed';
        this.#at(`asked (${this.#outcome})`);
        if (this.#outcome === 'away') throw failure(503, 'starting');
        this.#request = request;
      },
      get: async () => this.#answer(),
    };
    const clusters = {
      get: async () => ({ metadata: { name: 'edge-1', generation: 1 } }),
      apply: async ({ status }: { status: { conditions: { status: string; message: string }[] } }) => {
        for (const each of status.conditions) this.#at(`told ${each.status}: ${each.message}`);
        if (this.#left.length === 0) this.#stop.abort();
      },
    };
    const resource = ({ resource: plural }: ResourceType) => (plural === 'clusters' ? clusters : requests);
    return { resource } as unknown as Client;
  }

  async #answer(): Promise<KubeObject> {
    const { request = '' } = (this.#request?.['spec'] ?? {}) as { request?: string };
    if (this.#outcome === 'denied') {
      return { status: { conditions: [{ type: 'Denied', reason: 'KeyDiffers', message: 'bound to another key' }] } };
    }
    if (this.#outcome === 'unsigned') return {};
    const csr = Buffer.from(request, 'base64').toString();
    const options = { usages: ['client' as const], seconds: 30 * 86_400, now: this.clock.wall().getTime() };
    const certificate = await signRequest(this.#ca, csr, options);
    return { status: { certificate: Buffer.from(certificate).toString('base64') } };
  }

  #member(): Client {
    const patch = async () => {
      if (this.#outcome === 'not kept') throw failure(503, 'the member is away');
      this.#at('kept');
    };
    return { resource: () => ({ patch }) } as unknown as Client;
  }
}

describe('an agent’s certificate', () => {
  let ca: KeyPair;
  before(async () => {
    ca = await createCertificateAuthority({ commonName: 'hub' });
  });

  test('is renewed at two thirds of its life, kept before it is used, and told', async () => {
    const { events } = await new Run(ca, ['signed', 'signed']).start();
    assert.deepEqual(events, [
      "0.00 told True: the agent's certificate is good until 1970-01-31T00:00:00Z",
      '20.00 asked (signed)',
      '20.00 kept',
      '20.00 used',
      "20.00 told True: the agent's certificate is good until 1970-02-20T00:00:00Z",
      '40.00 asked (signed)',
      '40.00 kept',
      '40.00 used',
      "40.00 told True: the agent's certificate is good until 1970-03-12T00:00:00Z",
    ]);
  });

  test('is renewed when the hub refuses it, before its time', async () => {
    const run = new Run(ca, ['signed']);
    run.refusals.report();
    const { events } = await run.start();
    assert.deepEqual(events.slice(1, 4), ['0.00 asked (signed)', '0.00 kept', '0.00 used']);
  });

  test('is never waited for in one piece: timers end early, and machines sleep', async () => {
    const { clock } = await new Run(ca, ['signed']).start();
    assert.ok(Math.max(...clock.waits) <= MINUTE);
  });

  const failures: [outcome: Outcome, says: RegExp][] = [
    ['away', /starting/],
    ['denied', /KeyDiffers: bound to another key/],
    ['unsigned', /nobody signed/],
    ['not kept', /member is away/],
  ];
  for (const [outcome, says] of failures) {
    test(`that cannot be renewed (${outcome}) is asked for again, is told, and stays in use`, async () => {
      const { events } = await new Run(ca, [outcome, outcome, 'signed']).start();
      const told = events.filter((event) => /told False/.test(event));
      assert.equal(told.length, 2);
      assert.match(told[0] ?? '', says);
      assert.match(told[0] ?? '', /ends at 1970-01-31T00:00:00Z/);
      assert.equal(events.filter((event) => event.endsWith(' used')).length, 1, events.join('\n'));
      assert.match(events.at(-1) ?? '', /told True/);
    });
  }

  test('is asked for more and more seldom', async () => {
    const { clock } = await new Run(ca, Array<Outcome>(10).fill('away')).start();
    const waits = clock.waits.filter((ms) => ms !== MINUTE);
    assert.deepEqual(
      waits,
      [5, 10, 20, 40, 80, 160, 320, 600, 600].map((seconds) => seconds * 1000),
    );
  });
});
