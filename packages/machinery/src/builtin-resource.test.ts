import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Deployment } from './generated/apps-v1.ts';
import { BUILTIN_RESOURCES } from './generated/builtin-resources.ts';
import type { Event } from './generated/core-v1.ts';
import type { EventEvents } from './generated/events-v1.ts';
import * as types from './generated/resource-types.ts';
import type { ResourceType } from './kinds.ts';
import type { KubeObject } from './object.ts';

/** Discovery as a Kubernetes server answers it, made again from `BUILTIN_RESOURCES`. */
function discoveryAgain(): unknown[] {
  return BUILTIN_RESOURCES.map(({ group, version, subresources, shortNames, categories, ...type }) => ({
    group,
    version,
    resource: type.resource,
    responseKind: { group: '', kind: type.kind, version: '' },
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: type.singular,
    verbs: type.verbs,
    ...(shortNames.length > 0 ? { shortNames } : {}),
    ...(categories.length > 0 ? { categories } : {}),
    ...(subresources.length > 0
      ? {
          subresources: subresources.map((sub) => {
            const own = sub.group === group && sub.version === version;
            const responseKind = { group: own ? '' : sub.group, kind: sub.kind, version: own ? '' : sub.version };
            return { subresource: sub.name, responseKind, verbs: sub.verbs };
          }),
        }
      : {}),
  }));
}

test('the built-in resources are those of discovery, nothing lost', () => {
  const file = new URL('../data/kubernetes-1.36.json', import.meta.url);
  const { discovery } = JSON.parse(readFileSync(file, 'utf8')) as {
    discovery: Record<
      'api' | 'apis',
      { metadata: { name?: string }; versions: { version: string; resources: object[] }[] }[]
    >;
  };
  const real = [...discovery.api, ...discovery.apis].flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map((resource) => ({ group: metadata.name ?? '', version, ...resource })),
    ),
  );
  assert.deepEqual(discoveryAgain(), real);
});

test('each resource has its constant', () => {
  const constants = Object.values(types);
  assert.equal(constants.length, BUILTIN_RESOURCES.length);
  for (const { group, version, resource, kind, namespaced } of BUILTIN_RESOURCES) {
    assert.ok(
      constants.some(
        (type) =>
          type.group === group &&
          type.version === version &&
          type.resource === resource &&
          type.kind === kind &&
          type.namespaced === namespaced,
      ),
      resource,
    );
  }
});

test('names that clash add their group or version', () => {
  const events: ResourceType<Event> = types.EVENTS;
  const newer: ResourceType<EventEvents> = types.EVENTS_EVENTS;
  assert.deepEqual([events.group, newer.group], ['', 'events.k8s.io']);
  assert.equal(types.HORIZONTAL_POD_AUTOSCALERS.version, 'v2');
  assert.equal(types.HORIZONTAL_POD_AUTOSCALERS_V1.version, 'v1');
});

test('a built-in kind is an object, and a misspelt field of it does not compile', () => {
  const deployment: Deployment = {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } }, template: { spec: { containers: [{ name: 'app' }] } } },
  };
  const object: KubeObject = deployment;
  // @ts-expect-error the field is called spec
  assert.equal(deployment.specc, undefined);
  assert.equal(object.metadata?.name, 'web');
});

test('the generated files are up to date', () => {
  const generator = fileURLToPath(new URL('../generator/main.ts', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [generator, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});
