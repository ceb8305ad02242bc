import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { DiscoveredResource } from '@asterism/client';
import { formatGroupResource } from '@asterism/machinery';
import { type IndexRule, planIndex } from './indexed-resources.ts';

const LIST_WATCH = ['get', 'list', 'watch'];

function served(groupVersion: string, resource: string, more: Partial<DiscoveredResource> = {}): DiscoveredResource {
  const [group = '', version = ''] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
  const names = { kind: resource, singular: resource, shortNames: [], categories: [], subresources: [] };
  return { group, version, resource, namespaced: true, verbs: LIST_WATCH, preferred: true, ...names, ...more };
}

const SERVED = [
  served('v1', 'pods'),
  served('v1', 'secrets'),
  served('v1', 'events'),
  served('v1', 'nodes', { namespaced: false }),
  served('v1', 'bindings', { verbs: ['create'] }),
  served('apps/v1', 'deployments'),
  served('autoscaling/v2', 'horizontalpodautoscalers'),
  served('autoscaling/v1', 'horizontalpodautoscalers', { preferred: false }),
  served('events.k8s.io/v1', 'events'),
  served('coordination.k8s.io/v1', 'leases'),
  served('metrics.k8s.io/v1beta1', 'pods', { verbs: ['get', 'list'] }),
  served('example.com/v1', 'widgets'),
];

interface Row {
  name: string;
  rules: IndexRule[];
  /** `resource.group@version[namespaces]` */
  resources: string[];
  gaps?: string[];
}

const TABLE: Row[] = [
  { name: 'no rules, nothing', rules: [], resources: [] },
  { name: 'what is named', rules: [{ group: '', resources: ['pods', 'nodes'] }], resources: ['pods@v1', 'nodes@v1'] },
  {
    name: 'a group: what can be listed and watched, but for Secrets and Events',
    rules: [{ group: '', resources: ['*'] }],
    resources: ['pods@v1', 'nodes@v1'],
  },
  {
    name: 'every group: neither Events nor Leases in it',
    rules: [{ group: '*', resources: ['*'] }],
    resources: [
      'pods@v1',
      'nodes@v1',
      'deployments.apps@v1',
      'horizontalpodautoscalers.autoscaling@v2',
      'widgets.example.com@v1',
    ],
  },
  {
    name: 'Secrets, Events and Leases by their names',
    rules: [
      { group: '', resources: ['secrets', 'events'] },
      { group: 'coordination.k8s.io', resources: ['leases', '*'] },
    ],
    resources: ['secrets@v1', 'events@v1', 'leases.coordination.k8s.io@v1'],
  },
  {
    name: 'the version that the server prefers, or the first of the rule that it has',
    rules: [{ group: 'autoscaling', versions: ['v3', 'v1', 'v2'], resources: ['horizontalpodautoscalers'] }],
    resources: ['horizontalpodautoscalers.autoscaling@v1'],
  },
  {
    name: 'a version * is any',
    rules: [{ group: 'autoscaling', versions: ['*'], resources: ['*'] }],
    resources: ['horizontalpodautoscalers.autoscaling@v2'],
  },
  {
    name: 'a resource in any group',
    rules: [{ group: '*', resources: ['pods'] }],
    resources: ['pods@v1'],
  },
  {
    name: 'namespaces: only what lives in some',
    rules: [{ group: '', resources: ['*'], namespaces: ['b', 'a'] }],
    resources: ['pods@v1[a,b]'],
  },
  {
    name: 'rules add up: namespaces with namespaces',
    rules: [
      { group: '', resources: ['pods'], namespaces: ['b'] },
      { group: '', resources: ['*'], namespaces: ['a', 'b'] },
    ],
    resources: ['pods@v1[a,b]'],
  },
  {
    name: 'rules add up: all namespaces win, whichever comes first',
    rules: [
      { group: '', resources: ['pods'], namespaces: ['b'] },
      { group: '', resources: ['pods'] },
      { group: '', resources: ['pods'], namespaces: ['c'] },
    ],
    resources: ['pods@v1'],
  },
  {
    name: 'what has no effect is told, with the reason',
    rules: [
      { group: '', resources: ['pod', 'bindings'] },
      { group: '', resources: ['nodes'], namespaces: ['a'] },
      { group: 'apps', versions: ['v1beta1'], resources: ['deployments'] },
    ],
    resources: [],
    gaps: [
      'pod: the cluster does not serve it (a resource is named by its plural)',
      'bindings: it cannot be listed and watched in v1',
      'nodes: it does not live in namespaces, but its rule names some',
      'deployments.apps: the cluster serves it in v1 alone',
    ],
  },
];

describe('what is indexed of a cluster', () => {
  for (const { name, rules, resources, gaps = [] } of TABLE) {
    test(name, () => {
      const plan = planIndex(rules, SERVED);
      const told = plan.resources.map(
        ({ type, namespaces }) =>
          `${formatGroupResource(type)}@${type.version}${namespaces ? `[${namespaces.join(',')}]` : ''}`,
      );
      assert.deepEqual(told, resources);
      assert.deepEqual(
        plan.gaps.map(({ resource, reason }) => `${resource}: ${reason}`),
        gaps,
      );
    });
  }
});
