import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  DEPLOYMENTS,
  type KubeObject,
  NAMESPACES,
  PODS,
  type ResourceType,
} from '@asterism/machinery';
import { untilGone } from '../../cluster/until-gone.ts';
import { eventually } from '../../demo/aster-up.ts';
import type { PlacingFleet } from '../../cluster/placing/placing-fleet.ts';
import { only, Scene } from '../../cluster/placing/scene.ts';

/** What becomes of what is placed. */
export function delivered(fleet: () => PlacingFleet): void {
  describe('what is placed', () => {
    let scene: Scene;
    before(async () => {
      scene = await Scene.open(fleet(), 'delivered');
    });

    test('runs in the members, and makes no Pod in the hub', async () => {
      const web = scene.deployment('web', 3);
      await scene.apply(web, scene.policyFor(web, { placement: only('alder', 'oak') }));
      await scene.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
      await scene.kubectl('wait', '--for=condition=Available', 'deployment/web', '--timeout=30s');
      for (const cluster of ['alder', 'oak']) {
        const { items } = await scene.fleet.member(cluster).resource(PODS).list({ namespace: scene.namespace });
        assert.equal(items.filter(({ metadata }) => metadata?.labels?.['app'] === 'web').length, 3, cluster);
      }
      assert.equal(await scene.kubectl('get', 'pods,replicasets', '-o', 'name'), '');
    });

    test('a rollout is waited for by kubectl 1.20, at the template', async () => {
      const app = scene.deployment('app', 3);
      await scene.apply(app, scene.policyFor(app, { placement: only('alder', 'oak') }));
      await scene.kubectl('rollout', 'status', 'deployment/app', '--timeout=60s');
      await scene.kubectl('set', 'image', 'deployment/app', 'main=registry.example/app:2');
      const { oldKubectl } = scene.fleet;
      const status = ['rollout', 'status', 'deployment/app', '--timeout=60s', '-n', scene.namespace];
      assert.match(await oldKubectl.run(status), /successfully rolled out/);
      for (const cluster of ['alder', 'oak']) {
        const { spec, status: told } = await scene.inMember(cluster, DEPLOYMENTS, 'app');
        assert.equal(spec?.template?.spec?.containers?.[0]?.image, 'registry.example/app:2');
        assert.equal(told?.updatedReplicas, 3, 'it was rolled out in the member when the template said so');
      }
      await oldKubectl.run(['wait', '--for=condition=Available', 'deployment/app', '-n', scene.namespace]);
    });

    test('a definition and an object of its kind, in one go', async () => {
      const widget = { apiVersion: 'example.org/v1', kind: 'Widget', metadata: scene.ref('first'), spec: { size: 3 } };
      const definition = widgetDefinition();
      const selectors = [definition, widget].map(({ apiVersion, kind }) => ({ apiVersion, kind }));
      const policy = scene.clusterPolicy('widgets', {
        allowNamespaceOverrides: true,
        resourceSelectors: selectors,
        placement: only('alder', 'cedar', 'oak'),
      });
      await scene.apply(definition);
      await scene.kubectl('wait', '--for=condition=Established', `crd/${definition.metadata.name}`, '--timeout=30s');
      await scene.apply(widget);
      // The policy comes last: both go to the members at once.
      await scene.apply(policy);
      for (const cluster of ['alder', 'cedar', 'oak']) {
        // Asked again and again: a watch of a kind that is not served yet waits ever longer.
        const widgets = scene.fleet.member(cluster).resource(WIDGETS);
        await eventually(async () => {
          const live: KubeObject = await widgets.get(scene.ref('first'));
          assert.deepEqual(live['spec'], { size: 3 });
        }, 60_000);
      }
      await scene.placed('first-widget', ['alder', 'cedar', 'oak']);
      // All definitions were selected, but those of the hub's own kinds are no templates.
      const { items } = await scene.fleet.member('oak').resource(CUSTOM_RESOURCE_DEFINITIONS).list();
      assert.deepEqual(
        items.map(({ metadata }) => metadata?.name),
        ['widgets.example.org'],
      );
      // What its controllers in the members say of it is said of the template.
      for (const cluster of ['alder', 'cedar', 'oak']) {
        const body = { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Made', message: cluster }] } };
        const widgets = scene.fleet.member(cluster).resource(WIDGETS);
        await widgets.patch(scene.ref('first'), { type: 'merge', body }, { subresource: 'status' });
      }
      await scene.kubectl('wait', '--for=condition=Ready', 'widget/first', '--timeout=30s');
      await scene.delete(policy);
      for (const cluster of ['alder', 'cedar', 'oak']) {
        await untilGone(scene.fleet.member(cluster), CUSTOM_RESOURCE_DEFINITIONS, { name: 'widgets.example.org' });
      }
    });

    test('a ConfigMap of 1 MB', async () => {
      const text = 'x'.repeat(1024 * 1024 - 1024);
      const large = scene.configMap('large', { data: { text } });
      await scene.applyServerSide(large, scene.policyFor(large, { placement: only('alder', 'cedar', 'oak') }));
      for (const cluster of ['alder', 'cedar', 'oak']) {
        await scene.inMember(cluster, CONFIG_MAPS, 'large', ({ data }) => data?.['text'] === text);
      }
      await scene.placed('large-configmap', ['alder', 'cedar', 'oak']);
      const changed = `${text.slice(1)}y`;
      await scene.applyServerSide(scene.configMap('large', { data: { text: changed } }));
      for (const cluster of ['alder', 'cedar', 'oak']) {
        await scene.inMember(cluster, CONFIG_MAPS, 'large', ({ data }) => data?.['text'] === changed);
      }
    });

    test('drift is corrected within seconds, and what was deleted comes back', async () => {
      const map = scene.configMap('drifting');
      await scene.apply(map, scene.policyFor(map, { placement: only('cedar', 'oak') }));
      await scene.placed('drifting-configmap', ['cedar', 'oak']);
      for (const cluster of ['cedar', 'oak']) {
        const maps = scene.fleet.member(cluster).resource(CONFIG_MAPS);
        const { metadata } = await maps.get(scene.ref('drifting'));
        const begun = performance.now();
        await maps.patch(scene.ref('drifting'), { type: 'merge', body: { data: { from: 'member', own: 'x' } } });
        await scene.inMember(cluster, CONFIG_MAPS, 'drifting', ({ data }) => data?.['from'] === 'hub');
        await maps.delete(scene.ref('drifting'));
        const back = await scene.inMember(cluster, CONFIG_MAPS, 'drifting', (live) => isAnother(live, metadata?.uid));
        assert.deepEqual(back.data, { from: 'hub' });
        assert.ok(performance.now() - begun < 5_000, `${performance.now() - begun} ms`);
      }
    });

    test('what is wanted no more is pruned, and nothing else: fields, objects, clusters', async () => {
      const map = scene.configMap('pruned', { labels: { one: '1', two: '2' }, data: { one: '1', two: '2' } });
      await scene.apply(map, scene.policyFor(map, { placement: only('cedar', 'oak') }));
      await scene.placed('pruned-configmap', ['cedar', 'oak']);
      for (const cluster of ['cedar', 'oak']) {
        const maps = scene.fleet.member(cluster).resource(CONFIG_MAPS);
        await maps.create({ metadata: scene.ref('foreign'), data: { of: 'the member' } });
        await maps.patch(scene.ref('pruned'), { type: 'merge', body: { data: { own: 'of the member' } } });
      }
      await scene.apply(scene.configMap('pruned', { labels: { one: '1' }, data: { one: '1' } }));
      for (const cluster of ['cedar', 'oak']) {
        const live = await scene.inMember(cluster, CONFIG_MAPS, 'pruned', ({ data }) => data?.['two'] === undefined);
        assert.deepEqual(live.data, { one: '1', own: 'of the member' });
        assert.equal(live.metadata?.labels?.['two'], undefined);
      }
      await scene.apply(scene.policyFor(map, { placement: only('oak') }));
      await scene.goneFrom('cedar', CONFIG_MAPS, 'pruned');
      await scene.inMember('oak', CONFIG_MAPS, 'pruned');
      await scene.kubectl('delete', 'configmap', 'pruned');
      await scene.goneFrom('oak', CONFIG_MAPS, 'pruned');
      for (const cluster of ['cedar', 'oak']) await scene.inMember(cluster, CONFIG_MAPS, 'foreign');
    });

    test('the namespace in a member stays when the last object that was placed in it is deleted', async () => {
      const last = await Scene.open(fleet(), 'emptied');
      const map = last.configMap('last');
      await last.apply(map, last.policyFor(map, { placement: only('cedar', 'oak') }));
      await last.placed('last-configmap', ['cedar', 'oak']);
      await last.kubectl('delete', 'configmap', 'last');
      for (const cluster of ['cedar', 'oak']) {
        await last.goneFrom(cluster, CONFIG_MAPS, 'last');
        const { metadata } = await last.fleet.member(cluster).resource(NAMESPACES).get({ name: last.namespace });
        assert.equal(metadata?.deletionTimestamp, undefined);
      }
    });
  });
}

const WIDGETS: ResourceType = {
  group: 'example.org',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

function widgetDefinition() {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.org' },
    spec: {
      group: 'example.org',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: { type: 'object', properties: { size: { type: 'integer' } } },
                status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              },
            },
          },
          subresources: { status: {} },
        },
      ],
    },
  };
}

function isAnother({ metadata }: KubeObject, uid: string | undefined): boolean {
  return metadata?.uid !== uid;
}
