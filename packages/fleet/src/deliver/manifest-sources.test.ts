import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { untilObject } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, type ConfigMap, type KubeObject } from '@asterism/machinery';
import { API_VERSION, PROPAGATION_POLICIES, RESOURCE_BINDINGS, WORKS } from '../api/index.ts';
import type { ManifestSource } from '../template/manifest-source.ts';
import { type TemplateKey, templateKeyOf } from '../template/template-key.ts';
import { Fleet } from './testing/fleet.ts';

const ref = (name: string) => ({ namespace: 'demo', name });

/** Makes of a template with the label `parts` as many ConfigMaps as it says now, each with the name of its cluster. */
class PartsSource implements ManifestSource {
  parts: readonly string[] = ['first', 'second'];
  fails = false;
  #changed: ((template: TemplateKey) => void) | undefined;

  serves({ metadata }: KubeObject): boolean {
    return metadata?.labels?.['parts'] === 'yes';
  }

  prepare({ metadata }: KubeObject): ReturnType<ManifestSource['prepare']> {
    return async (cluster): Promise<ConfigMap[]> => {
      if (this.fails) throw new Error('the parts are not there');
      return this.parts.map((part) => ({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: ref(`${metadata?.name}-${part}`),
        data: { cluster: cluster.metadata.name ?? '' },
      }));
    };
  }

  follow(changed: (template: TemplateKey) => void): void {
    this.#changed = changed;
  }

  becomes(parts: readonly string[], template: KubeObject): void {
    this.parts = parts;
    this.#changed?.(templateKeyOf(template));
  }
}

describe('manifests from a source', () => {
  const source = new PartsSource();
  const template: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...ref('app'), labels: { parts: 'yes' } },
  };
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start({ ant: {}, bee: { syncMode: 'Pull' } }, { sources: [source] });
    await fleet.run();
    await fleet.hub.resource(PROPAGATION_POLICIES).create({
      apiVersion: API_VERSION,
      kind: 'PropagationPolicy',
      metadata: ref('all'),
      spec: { resourceSelectors: [{ apiVersion: 'v1', kind: 'ConfigMap' }] },
    });
    await fleet.hub.resource(CONFIG_MAPS).create(template);
  });
  after(() => fleet[Symbol.asyncDispose]());

  const stands = (cluster: string, name: string) =>
    untilObject(fleet.member(cluster), CONFIG_MAPS, ref(name), (object) => object?.data?.['cluster'] === cluster);
  const gone = (cluster: string, name: string) =>
    untilObject(fleet.member(cluster), CONFIG_MAPS, ref(name), (object) => object === undefined);

  test('each cluster gets its own, and the template itself reaches none', async () => {
    for (const cluster of ['ant', 'bee']) {
      await stands(cluster, 'app-first');
      await stands(cluster, 'app-second');
      const { items } = await fleet.member(cluster).resource(CONFIG_MAPS).list({ namespace: 'demo' });
      assert.ok(!items.some(({ metadata }) => metadata?.name === 'app'), cluster);
    }
  });

  test('nothing is copied into the hub: the template, its binding and its Works are all that is there', async () => {
    const { items: maps } = await fleet.hub.resource(CONFIG_MAPS).list({ namespace: 'demo' });
    assert.ok(maps.every(({ metadata }) => !metadata?.name?.startsWith('app-')));
    const { items: bindings } = await fleet.hub.resource(RESOURCE_BINDINGS).list({ namespace: 'demo' });
    assert.deepEqual(
      bindings.map(({ metadata }) => metadata.name).filter((name) => name?.startsWith('app')),
      ['app-configmap'],
    );
    const { items: works } = await fleet.hub.resource(WORKS).list({});
    assert.deepEqual(
      works.filter(({ metadata }) => metadata.name === 'demo.app-configmap').map(({ spec }) => spec.manifests.length),
      [2, 2],
    );
  });

  test('a change that only the source knows of reaches the clusters', async () => {
    source.becomes(['first', 'third'], template);
    for (const cluster of ['ant', 'bee']) {
      await stands(cluster, 'app-third');
      await gone(cluster, 'app-second');
    }
  });

  test('while the source fails, clusters keep what they have', async () => {
    source.fails = true;
    source.becomes(['fourth'], template);
    await fleet.hub.resource(CONFIG_MAPS).create({ ...template, metadata: ref('plain'), data: { cluster: 'ant' } });
    await stands('ant', 'plain');
    await stands('ant', 'app-third');
    source.fails = false;
    source.becomes(['fourth'], template);
    await stands('ant', 'app-fourth');
    await gone('ant', 'app-third');
  });
});
