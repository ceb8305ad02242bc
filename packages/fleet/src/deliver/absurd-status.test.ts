import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { DEPLOYMENTS, type KubeObject } from '@asterism/machinery';
import {
  CLUSTER_PROPAGATION_POLICIES,
  clusterNamespace,
  RESOURCE_BINDINGS,
  type ResourceBinding,
  type Work,
  WORKS,
} from '../api/index.ts';
import { definitionOf, establish, WIDGETS } from './testing/custom-kind.ts';
import { Fleet } from './testing/fleet.ts';
import { policyForAll } from './testing/policy-for-all.ts';

const WEB = { namespace: 'demo', name: 'web' };

/** The hub cannot reach the wasp, so this test alone writes what it reports. */
describe('one absurd status freezes nothing', () => {
  let fleet: Fleet;
  before(async () => {
    const serves = ['apps/v1/Deployment', 'example.com/v1/Widget'];
    const parts = { ant: { serves }, wasp: { serves, away: true } };
    fleet = await Fleet.start(parts, { timing: { coalesceMs: 0, patienceMs: 0 } });
    const condition = {
      type: 'object',
      required: ['type', 'status', 'reason'],
      properties: {
        type: { type: 'string' },
        status: { type: 'string' },
        reason: { type: 'string', pattern: '^[A-Z]' },
      },
    };
    const version = {
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            status: { type: 'object', properties: { conditions: { type: 'array', items: condition } } },
          },
        },
      },
    };
    const open = {
      ...version,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    };
    await establish(fleet.hub, definitionOf(WIDGETS, version));
    await establish(fleet.member('ant'), definitionOf(WIDGETS, open));
    await fleet.run();
    await fleet.hub.resource(CLUSTER_PROPAGATION_POLICIES).create(policyForAll(serves));
  });
  after(() => fleet[Symbol.asyncDispose]());

  /** What an agent that is taken over would write. */
  async function report(work: string, status: unknown, message?: string): Promise<void> {
    const namespace = clusterNamespace('wasp');
    const object = await untilObject(fleet.hub, WORKS, { namespace, name: work }, (found) => found !== undefined);
    const { metadata, spec } = object as Work;
    const [{ apiVersion = '', kind = '', metadata: meta } = {}] = spec.manifests;
    const observedGeneration = metadata.generation;
    const told = {
      apiVersion,
      kind,
      namespace: 'demo',
      name: meta?.name,
      applied: true,
      observedGeneration,
      generation: 1,
    };
    const value = {
      observedGeneration,
      manifestStatuses: [{ ...told, health: 'Healthy', status, ...(message ? { message } : {}) }],
    };
    const body = [{ op: 'add', path: '/status', value }];
    await fleet.hub.resource(WORKS).patch({ namespace, name: work }, { type: 'json', body }, { subresource: 'status' });
  }

  const itemOf = (binding: ResourceBinding | undefined, cluster: string) =>
    binding?.status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster);

  async function antReports(replicas: number): Promise<void> {
    const client = fleet.member('ant');
    await untilObject(client, DEPLOYMENTS, WEB, (object) => object !== undefined);
    const value = { observedGeneration: 1, replicas, readyReplicas: replicas, availableReplicas: replicas };
    await client
      .resource(DEPLOYMENTS)
      .patch(WEB, { type: 'json', body: [{ op: 'add', path: '/status', value }] }, { subresource: 'status' });
  }

  test('a Deployment', async () => {
    await fleet.hub.resource(DEPLOYMENTS).create({
      metadata: WEB,
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    });
    const absurd: [status: unknown, message: string | undefined, remark: RegExp | undefined][] = [
      [{ readyReplicas: 7 }, undefined, /readyReplicas 7 is more than replicas 0/],
      [{ replicas: -4 }, undefined, /replicas -4 is not a count/],
      [{ replicas: 1, spam: 'x'.repeat(2_800_000) }, undefined, undefined],
      [{ replicas: 1 }, 'y'.repeat(2_800_000), /^y{2047}…$/],
      [{ replicas: 2 ** 40 }, undefined, /is not a count/],
    ];
    for (const [index, [status, message, remark]] of absurd.entries()) {
      await report('demo.web-deployment', status, message);
      const binding = await untilObject(fleet.hub, RESOURCE_BINDINGS, { ...WEB, name: 'web-deployment' }, (found) => {
        const item = itemOf(found, 'wasp');
        return item?.applied === true && (remark === undefined || remark.test(item.appliedMessage ?? ''));
      });
      assert.ok(JSON.stringify(binding).length < 20_000);
      await antReports(1 + index);
      const template = await untilObject(
        fleet.hub,
        DEPLOYMENTS,
        WEB,
        (found) => (found?.status?.readyReplicas ?? 0) === 1 + index,
      );
      assert.equal(template?.status?.availableReplicas, 1 + index);
    }
  });

  test('a kind whose schema refuses what one cluster reports', async () => {
    const ref = { namespace: 'demo', name: 'one' };
    await fleet.hub.resource(WIDGETS).create({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: ref });
    await report('demo.one-widget', { conditions: [{ type: 'Odd', status: 'False', reason: 'not a reason' }] });
    const client = fleet.member('ant');
    await untilObject(client, WIDGETS, ref, (found) => found !== undefined);
    const value = { conditions: [{ type: 'Ready', status: 'False', reason: 'Starting' }] };
    const body = [{ op: 'add', path: '/status', value }];
    await client.resource(WIDGETS).patch(ref, { type: 'json', body }, { subresource: 'status' });
    const template = await untilObject(fleet.hub, WIDGETS, ref, (found) =>
      JSON.stringify(found?.['status'] ?? '').includes('Starting'),
    );
    const { conditions } = (template as KubeObject)['status'] as { conditions: { reason: string }[] };
    assert.deepEqual(
      conditions.map(({ reason }) => reason),
      ['Starting'],
    );
  });
});
