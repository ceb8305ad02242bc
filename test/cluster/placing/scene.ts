import assert from 'node:assert/strict';
import {
  API_VERSION,
  type ClusterAffinity,
  type ClusterOverridePolicy,
  type ClusterPropagationPolicy,
  type OverridePolicy,
  type PropagationPolicy,
  RESOURCE_BINDINGS,
  type ResourceBinding,
} from '@asterism/fleet/api';
import { CONFIG_MAPS, type KubeObject, type ResourceType } from '@asterism/machinery';
import { until } from '../until.ts';
import { untilGone } from '../until-gone.ts';
import type { PlacingFleet } from './placing-fleet.ts';

type PolicySpec = PropagationPolicy['spec'];
type Selector = PolicySpec['resourceSelectors'][number];

/** One namespace of the hub with what a test places from it. What a test applies, it applies by kubectl. */
export class Scene {
  readonly fleet: PlacingFleet;
  readonly namespace: string;

  private constructor(fleet: PlacingFleet, namespace: string) {
    this.fleet = fleet;
    this.namespace = namespace;
  }

  static async open(fleet: PlacingFleet, namespace: string): Promise<Scene> {
    await fleet.kubectl.run(['create', 'namespace', namespace]);
    return new Scene(fleet, namespace);
  }

  /** `kubectl apply` of all of it at once. */
  async apply(...objects: readonly KubeObject[]): Promise<string> {
    return await this.#send(['apply', '-f', '-'], objects);
  }

  /** `kubectl apply --server-side`, which keeps nulls and takes objects that are too large for an annotation. */
  async applyServerSide(...objects: readonly KubeObject[]): Promise<string> {
    return await this.#send(['apply', '--server-side', '--force-conflicts', '-f', '-'], objects);
  }

  /** kubectl in this namespace. */
  async kubectl(...args: readonly string[]): Promise<string> {
    return await this.fleet.kubectl.run(['--namespace', this.namespace, ...args]);
  }

  async delete(...objects: readonly KubeObject[]): Promise<void> {
    await this.fleet.kubectl.run(['delete', '-f', '-'], { stdin: documents(objects) });
  }

  configMap(name: string, more: { labels?: Record<string, string>; data?: Record<string, string> } = {}): KubeObject {
    const { labels, data = { from: 'hub' } } = more;
    return {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...this.ref(name), ...(labels ? { labels } : {}) },
      data,
    };
  }

  /** Of pods that ask for so much CPU. */
  deployment(name: string, replicas: number, cpu = '10m'): KubeObject {
    const labels = { app: name };
    const container = { name: 'main', image: 'registry.example/app:1', resources: { requests: { cpu } } };
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: this.ref(name),
      spec: {
        replicas,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [container] } },
      },
    };
  }

  /** Places the object itself, with whatever else the policy says. */
  policyFor(object: KubeObject, spec: Omit<PolicySpec, 'resourceSelectors'>): PropagationPolicy {
    return this.policy(`${object.metadata?.name}`, { resourceSelectors: [selectorOf(object)], ...spec });
  }

  policy(name: string, spec: PolicySpec): PropagationPolicy {
    return { apiVersion: API_VERSION, kind: 'PropagationPolicy', metadata: this.ref(name), spec };
  }

  /** Its name is of the whole cluster, and so bears the scene's. */
  clusterPolicy(name: string, spec: ClusterPropagationPolicy['spec']): ClusterPropagationPolicy {
    const metadata = { name: `${this.namespace}-${name}` };
    return { apiVersion: API_VERSION, kind: 'ClusterPropagationPolicy', metadata, spec };
  }

  override(name: string, spec: OverridePolicy['spec']): OverridePolicy {
    return { apiVersion: API_VERSION, kind: 'OverridePolicy', metadata: this.ref(name), spec };
  }

  clusterOverride(name: string, spec: ClusterOverridePolicy['spec']): ClusterOverridePolicy {
    const metadata = { name: `${this.namespace}-${name}` };
    return { apiVersion: API_VERSION, kind: 'ClusterOverridePolicy', metadata, spec };
  }

  ref(name: string): { namespace: string; name: string } {
    return { namespace: this.namespace, name };
  }

  /** Resolves with the binding `NAME-KIND` once it is as wanted. */
  async binding(
    name: string,
    isWanted: (binding: ResourceBinding) => boolean,
    timeoutMs?: number,
  ): Promise<ResourceBinding> {
    return await until(this.fleet.client, RESOURCE_BINDINGS, this.ref(name), isWanted, { timeoutMs });
  }

  /** Resolves when the template goes to these clusters, sorted, and no others (with these replicas, if given), and stands there. */
  async placed(name: string, where: readonly string[] | Readonly<Record<string, number>>): Promise<ResourceBinding> {
    const wanted = Array.isArray(where)
      ? where
      : Object.entries(where).map(([cluster, share]) => `${cluster} ${share}`);
    const isThere = ({ metadata, spec, status }: ResourceBinding): boolean => {
      const clusters = (spec.clusters ?? []).map((each) =>
        Array.isArray(where) ? each.name : `${each.name} ${each.replicas}`,
      );
      const isTold = status?.observedGeneration === metadata.generation;
      const all = status?.aggregatedStatus ?? [];
      return clusters.join() === wanted.join() && isTold && all.every(({ applied }) => applied);
    };
    return await this.binding(name, isThere);
  }

  /** Resolves with the object of this name in a member, once it is as wanted. */
  async inMember<T extends KubeObject>(
    cluster: string,
    type: ResourceType<T>,
    name: string,
    isWanted: (object: T) => boolean = () => true,
  ): Promise<T> {
    return await until(this.fleet.member(cluster), type, this.ref(name), isWanted);
  }

  async goneFrom<T extends KubeObject>(cluster: string, type: ResourceType<T>, name: string): Promise<void> {
    await untilGone(this.fleet.member(cluster), type, this.ref(name));
  }

  /** The ConfigMap stands in exactly these of all clusters, now. */
  async assertStands(name: string, where: readonly string[], all: readonly string[]): Promise<void> {
    for (const cluster of all) {
      const { items } = await this.fleet
        .member(cluster)
        .resource(CONFIG_MAPS)
        .list({
          namespace: this.namespace,
          fieldSelector: `metadata.name=${name}`,
        });
      assert.equal(items.length, where.includes(cluster) ? 1 : 0, `${name} in ${cluster}`);
    }
  }

  async #send(args: readonly string[], objects: readonly KubeObject[]): Promise<string> {
    return await this.fleet.kubectl.run(args, { stdin: documents(objects) });
  }
}

export const only = (...clusterNames: string[]): { clusterAffinity: ClusterAffinity } => ({
  clusterAffinity: { clusterNames },
});

/** Selects this object by its name. */
export function selectorOf({ apiVersion = '', kind = '', metadata }: KubeObject): Selector {
  return { apiVersion, kind, ...(metadata?.name ? { name: metadata.name } : {}) };
}

function documents(objects: readonly KubeObject[]): string {
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}
