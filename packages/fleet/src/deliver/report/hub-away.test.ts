import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { type Client, ClientError, type Transport, type TransportResponse } from '@asterism/client';
import { type Deployment, DEPLOYMENTS } from '@asterism/machinery';
import { CLUSTER_PROPAGATION_POLICIES, clusterNamespace, type Work, WORKS } from '../../api/index.ts';
import { deployment } from '../../place/testing/build.ts';
import { Fleet } from '../testing/fleet.ts';

const WEB = { namespace: 'demo', name: 'web' };
const REPLICAS = 3;
const WORK = { namespace: clusterNamespace('bee'), name: 'demo.web-deployment' };
/** So often the agent asks for the hub in about three seconds; a Work of its own would be tried five times. */
const KNOCKS = 5;

/** A hub as an agent sees it: it can go, with every connection there is, and come back. */
class Away {
  /** What was asked of it meanwhile, as `PATCH /path`. */
  readonly asked: string[] = [];
  #isAway = false;
  #open = new Set<TransportResponse['body']>();
  #enough: { asked: RegExp; times: number; resolve: () => void } | undefined;

  seenThrough(client: Client): Client {
    return client.through((transport): Transport => {
      return {
        request: async (request) => {
          if (this.#isAway) {
            this.#note(`${request.method} ${request.path}`);
            throw new ClientError('cannot reach the hub', { code: 'ECONNREFUSED' });
          }
          const response = await transport.request(request);
          this.#open.add(response.body);
          response.body.once('close', () => this.#open.delete(response.body));
          return response;
        },
        upgrade: (request) => transport.upgrade(request),
        close: () => Promise.resolve(),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
    });
  }

  go(): void {
    this.#isAway = true;
    for (const body of this.#open) body.destroy(new ClientError('the hub has gone', { code: 'ECONNRESET' }));
  }

  comeBack(): void {
    this.#isAway = false;
  }

  times(asked: RegExp): number {
    return this.asked.filter((each) => asked.test(each)).length;
  }

  /** Resolves when it was asked that so many times while it was away. */
  async untilAsked(asked: RegExp, times: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#enough = { asked, times, resolve };
    await promise;
  }

  #note(asked: string): void {
    this.asked.push(asked);
    if (this.#enough && this.times(this.#enough.asked) >= this.#enough.times) this.#enough.resolve();
  }
}

describe('an agent whose hub is away', () => {
  const away = new Away();
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({ bee: { syncMode: 'Pull' } });
    await fleet.run(() => away.seenThrough(fleet.hub));
    const { uid: _, ...metadata } = deployment(REPLICAS).metadata ?? {};
    await fleet.hub.resource(DEPLOYMENTS).create({ ...deployment(REPLICAS), metadata } as Deployment);
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create({
      apiVersion: 'asterism.dev/v1alpha1',
      kind: 'ClusterPropagationPolicy',
      metadata: { name: 'all' },
      spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement: {} },
    });
    await untilObject<Work>(fleet.hub, WORKS, WORK, (work) => work?.status?.manifestStatuses?.[0]?.applied === true);
  });
  after(() => fleet[Symbol.asyncDispose]());

  test('does not try again and again to tell of each Work, and tells all when it is back', async () => {
    const deployments = fleet.member('bee').resource(DEPLOYMENTS);
    const knocked = away.untilAsked(/ \/readyz$/, KNOCKS);
    away.go();
    const { metadata } = await deployments.get(WEB);
    const counters = { updatedReplicas: REPLICAS, readyReplicas: REPLICAS, availableReplicas: REPLICAS };
    const value = { observedGeneration: metadata?.generation, replicas: REPLICAS, ...counters };
    const body = [{ op: 'add', path: '/status', value }];
    await deployments.patch(WEB, { type: 'json', body }, { subresource: 'status' });
    await knocked;
    const tried = away.times(/^PATCH .*\/works\/.*\/status$/);
    assert.ok(tried >= 1 && tried <= 3, `tried ${tried} times: ${away.asked.join('; ')}`);
    away.comeBack();
    const ready = (work: Work | undefined) => work?.status?.manifestStatuses?.[0]?.status?.['readyReplicas'];
    await untilObject<Work>(fleet.hub, WORKS, WORK, (work) => ready(work) === REPLICAS);
  });
});
