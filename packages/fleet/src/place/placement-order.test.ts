import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CONFIG_MAPS, type Deployment, DEPLOYMENTS, NAMESPACES } from '@asterism/machinery';
import { watchResource } from '@asterism/runtime';
import { API_VERSION, PROPAGATION_POLICIES, RESOURCE_BINDINGS } from '../api/index.ts';
import { Fleet } from '../deliver/testing/fleet.ts';
import { deployment } from './testing/build.ts';

const NAMES = Array.from({ length: 12 }, (_, index) => `app-${index}`);
/** So many templates are placed at the same time. */
const CONCURRENCY = 4;

describe('of the templates that a policy selects, those that others need are placed first', () => {
  let fleet: Fleet;
  before(async () => {
    fleet = await Fleet.start({ ant: {} });
    await fleet.run();
  });
  after(() => fleet[Symbol.asyncDispose]());

  const rows = [
    { name: 'where it is the first to name their kinds', namespace: 'shop' },
    { name: 'where they are known', namespace: 'bank' },
  ];
  for (const { name, namespace } of rows)
    test(name, async () => {
      const { hub } = fleet;
      await hub.resource(NAMESPACES).create({ metadata: { name: namespace } });
      for (const each of NAMES) {
        const metadata = { namespace, name: each };
        await hub.resource(DEPLOYMENTS).create({ ...deployment(1), metadata } as Deployment);
        await hub.resource(CONFIG_MAPS).create({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
      }
      const selectors = ['apps/v1/Deployment', 'v1/ConfigMap'].map((kind) => {
        const end = kind.lastIndexOf('/');
        return { apiVersion: kind.slice(0, end), kind: kind.slice(end + 1) };
      });
      const placed: string[] = [];
      const signal = AbortSignal.timeout(8_000);
      const watching = watchResource(hub.resource(RESOURCE_BINDINGS), { namespace, signal });
      for await (const event of watching) {
        if (event.type === 'InitDone')
          await hub.resource(PROPAGATION_POLICIES).create({
            apiVersion: API_VERSION,
            kind: 'PropagationPolicy',
            metadata: { namespace, name: 'all' },
            spec: { resourceSelectors: selectors },
          });
        if (event.type === 'Apply' && !placed.includes(event.object.metadata.name ?? ''))
          placed.push(event.object.metadata.name ?? '');
        if (placed.length === 2 * NAMES.length) break;
      }
      const early = placed.slice(0, NAMES.length - CONCURRENCY);
      assert.deepEqual(
        early.filter((each) => !each.endsWith('-configmap')),
        [],
        placed.join(', '),
      );
    });
});
