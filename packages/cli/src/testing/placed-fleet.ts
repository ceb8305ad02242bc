import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestServer } from '@asterism/apiserver/testing';
import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import { API_VERSION, RESOURCE_BINDINGS, type ResourceBinding } from '@asterism/fleet/api';
import { DEPLOYMENTS, type KubeObject, NAMESPACES } from '@asterism/machinery';
import { formatKubeconfig } from '../../../hub/src/kubeconfig.ts';
import { grant } from '../../../hub/src/testing/grant.ts';
import { apply, TestFleet } from '../../../hub/src/testing/test-fleet.ts';

/** A whole hub with members that have joined by agents, and a Deployment `demo/web` of 6 replicas that is placed in all of them. */
export interface PlacedFleet extends AsyncDisposable {
  readonly hub: Client;
  /** The file of the hub's administrator. */
  readonly kubeconfig: string;
  readonly fleet: TestFleet;
  member(name: string): TestServer;
  /** The administrator's file, as somebody else. */
  kubeconfigOf(user: string): Promise<string>;
  /** Resolves when the binding `demo/NAME` is as wanted. */
  binding(name: string, wanted: (binding: ResourceBinding) => boolean): Promise<ResourceBinding>;
}

const EVERYTHING = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };

export const DIVIDED = {
  replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' },
} as const;

export async function startPlacedFleet(...names: readonly string[]): Promise<PlacedFleet> {
  const fleet = await TestFleet.start();
  const members = new Map<string, TestServer>();
  for (const clusterName of names) {
    const member = await fleet.startMember();
    members.set(clusterName, member);
    await apply(member.client, grant('hub-admin', { kind: 'User', name: 'admin' }, EVERYTHING));
    const { token } = await fleet.hub.createBootstrapToken({ autoApprove: true });
    await fleet.join(member, { clusterName, token }).ready;
  }
  const hub = fleet.hub.client;
  const placed: PlacedFleet = {
    hub,
    kubeconfig: join(fleet.dataDir, 'kubeconfig'),
    fleet,
    member: (name) => members.get(name) as TestServer,
    binding: async (name, wanted) =>
      (await untilObject(
        hub,
        RESOURCE_BINDINGS,
        { namespace: 'demo', name },
        (binding) => !!binding && wanted(binding),
      )) as ResourceBinding,
    kubeconfigOf: async (user) => {
      const path = join(fleet.dataDir, `kubeconfig-of-${user}`);
      await writeFile(path, formatKubeconfig({ ...fleet.hub.adminConnection, impersonate: { user } }));
      return path;
    },
    [Symbol.asyncDispose]: () => fleet[Symbol.asyncDispose](),
  };
  await hub.resource(NAMESPACES).create({ metadata: { name: 'demo' } });
  await apply(hub, [web(6), policyOf('web', DIVIDED)]);
  await placed.binding('web-deployment', isApplied);
  for (const name of names) {
    await untilObject(placed.member(name).client, DEPLOYMENTS, { namespace: 'demo', name: 'web' }, (found) => !!found);
  }
  return placed;
}

/** Whether all of it stands in the members. */
export function isApplied({ metadata, spec, status }: ResourceBinding): boolean {
  const told = status?.aggregatedStatus ?? [];
  return (
    status?.observedGeneration === metadata.generation &&
    told.length === spec.clusters?.length &&
    told.every(({ applied }) => applied)
  );
}

/** The Deployment `demo/web`. */
export function web(replicas: number, image = 'nginx:1.29'): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'demo' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  };
}

/** A policy for all Deployments of `demo`. */
export function policyOf(name: string, placement: object, further: object = {}): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: 'PropagationPolicy',
    metadata: { name, namespace: 'demo' },
    spec: { resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment' }], placement, ...further },
  };
}

/** An override policy of `demo` for what goes to one cluster. */
export function overrideOf(name: string, cluster: string, overriders: object): KubeObject {
  return {
    apiVersion: API_VERSION,
    kind: 'OverridePolicy',
    metadata: { name, namespace: 'demo' },
    spec: { overrideRules: [{ targetCluster: { clusterNames: [cluster] }, overriders }] },
  };
}
