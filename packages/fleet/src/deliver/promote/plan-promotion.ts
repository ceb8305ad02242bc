import type { Client } from '@asterism/client';
import { deepEqual, formatApiVersion, ifFound, type KubeObject, type ResourceType } from '@asterism/machinery';
import {
  API_VERSION,
  CLUSTER_PROPAGATION_POLICIES,
  type ClusterPropagationPolicy,
  PROPAGATION_POLICIES,
  type PropagationPolicy,
} from '../../api/index.ts';
import { bindingName } from '../../template/binding-name.ts';
import { dependenciesOf, type Dependency } from '../../template/dependencies.ts';
import { choosePolicy, type Policy } from '../../place/match-policy.ts';
import { templateKeyOf } from '../../template/template-key.ts';
import { formatManifestRef, manifestRefOf } from '../works/manifest-ref.ts';
import { placedBy, promotedTemplate, whyNotPromotable } from './promoted-template.ts';

export interface PromotionRequest {
  hub: Client;
  /** The API server of the member, as the hub reaches it for the caller. */
  member: Client;
  cluster: string;
  /** As the member serves it. */
  type: ResourceType;
  namespace?: string | undefined;
  name: string;
  /** What the object needs goes with it. */
  dependencies: boolean;
}

/** What is to stand in the hub, in the order in which it is to be created. */
export interface Promotion {
  policy: Policy;
  /** The object itself is the last. */
  templates: KubeObject[];
}

/** Why an object cannot be promoted, and what to do about it. */
export class PromotionError extends Error {
  override readonly name = 'PromotionError';
}

/**
 * Reads an object of a member, and plans the template and the policy by which the hub takes it over where it stands. Nothing is written.
 *
 * The policy names the one object and the one cluster; it comes first, so that the template never stands where another policy could place
 * it elsewhere. A policy that says the very same is the beginning of this promotion, which then goes on.
 *
 * Throws a `PromotionError` where the hub has such a template, or another policy would place it, where Asterism has placed the object, and
 * where it belongs to the cluster itself or to another object; a `StatusError` as the two API servers say it.
 */
export async function planPromotion(request: PromotionRequest): Promise<Promotion> {
  const { hub, member, cluster, type, namespace, name } = request;
  const live = await ifFound(member.resource(type).get({ namespace, name }));
  const what = formatManifestRef({
    apiVersion: formatApiVersion(type),
    kind: type.kind,
    name,
    ...(namespace ? { namespace } : {}),
  });
  if (!live) throw new PromotionError(`there is no ${what} in cluster ${cluster}`);
  const template = promotedTemplate(live);
  const policy = policyFor(template, request);
  const begun = await isBegun(hub, policy);
  const why = whyNotPromotable(live);
  if (why) throw new PromotionError(`${what} of cluster ${cluster} cannot be promoted: ${why}`);
  const work = placedBy(live);
  if (work !== undefined && !begun) {
    throw new PromotionError(
      `${what} of cluster ${cluster} is managed by Asterism already: the Work ${work} has placed it`,
    );
  }
  if (!begun) await refuseTaken(hub, template, policy, what);
  const needed = request.dependencies ? await neededTemplates(request, live) : [];
  return { policy, templates: [...needed, template] };
}

function policyFor(template: KubeObject, { cluster, dependencies }: PromotionRequest): Policy {
  const { apiVersion, kind, namespace, name } = templateKeyOf(template);
  const spec: Policy['spec'] = {
    resourceSelectors: [{ apiVersion, kind, name }],
    ...(dependencies ? { propagateDeps: true } : {}),
    placement: { clusterAffinity: { clusterNames: [cluster] } },
    conflictResolution: 'Overwrite',
  };
  const policyName = bindingName({ apiVersion, kind, name });
  return namespace
    ? { apiVersion: API_VERSION, kind: 'PropagationPolicy', metadata: { name: policyName, namespace }, spec }
    : { apiVersion: API_VERSION, kind: 'ClusterPropagationPolicy', metadata: { name: policyName }, spec };
}

/** Whether the policy stands in the hub. Throws where one of its name says otherwise. */
async function isBegun(hub: Client, policy: Policy): Promise<boolean> {
  const { name = '', namespace } = policy.metadata;
  const present = await ifFound<Policy>(
    namespace
      ? hub.resource(PROPAGATION_POLICIES).get({ namespace, name })
      : hub.resource(CLUSTER_PROPAGATION_POLICIES).get({ name }),
  );
  if (!present) return false;
  if (deepEqual(present.spec, policy.spec)) return true;
  throw new PromotionError(
    `the hub has a ${policy.kind} ${namespace ? `${namespace}/` : ''}${name} that says otherwise: change that, or delete it`,
  );
}

async function refuseTaken(hub: Client, template: KubeObject, policy: Policy, what: string): Promise<void> {
  if (await readTemplate(hub, template)) {
    throw new PromotionError(
      `the hub has a ${what} already: write a policy for that, with conflictResolution: Overwrite, to have it take over what stands there`,
    );
  }
  const { namespace } = template.metadata ?? {};
  const namespaced = namespace ? (await hub.resource(PROPAGATION_POLICIES).list({ namespace })).items : [];
  const cluster = (await hub.resource(CLUSTER_PROPAGATION_POLICIES).list()).items;
  const policies = {
    namespaced: (namespaced as PropagationPolicy[]).map(withKind('PropagationPolicy')),
    cluster: (cluster as ClusterPropagationPolicy[]).map(withKind('ClusterPropagationPolicy')),
  };
  const chosen =
    policy.kind === 'PropagationPolicy'
      ? choosePolicy(template, { ...policies, namespaced: [...policies.namespaced, policy] })
      : choosePolicy(template, { ...policies, cluster: [...policies.cluster, policy] });
  if (chosen === policy || !chosen) return;
  const { name = '', namespace: own } = chosen.metadata;
  throw new PromotionError(
    `${chosen.kind} ${own ? `${own}/` : ''}${name} would place ${what}, not a policy that promotes it: exclude it there, or apply it to the hub as a template`,
  );
}

/** Items of a list come without their kind. */
function withKind<P extends Policy>(kind: P['kind']): (policy: P) => P {
  return (policy) => ({ ...policy, apiVersion: API_VERSION, kind });
}

/**
 * What the object needs and the hub lacks. What the hub has must be what the cluster has: it goes there as well, and would change it
 * beneath what runs.
 */
async function neededTemplates(
  { hub, member, cluster, namespace }: PromotionRequest,
  live: KubeObject,
): Promise<KubeObject[]> {
  const needed: KubeObject[] = [];
  const named = new Map<string, Dependency>();
  const note = (object: KubeObject): void => {
    for (const each of namespace ? dependenciesOf(object) : []) named.set(`${each.kind}/${each.name}`, each);
  };
  note(live);
  for (const { apiVersion, kind, name } of named.values()) {
    const type = await member.discovery.typeFor({ apiVersion, kind });
    const object = await ifFound(member.resource(type).get({ namespace, name }));
    if (!object || whyNotPromotable(object)) continue;
    note(object); // what is noted while this goes on is come to as well
    const template = promotedTemplate(object);
    const present = await readTemplate(hub, template);
    if (!present) needed.push(template);
    else if (placedBy(object) === undefined && !deepEqual(promotedTemplate(present), template)) {
      const what = formatManifestRef(manifestRefOf(object));
      throw new PromotionError(`${what} of the hub is not what stands in cluster ${cluster}: make them the same first`);
    }
  }
  return needed;
}

/** Undefined also where nobody has made its Namespace yet. Throws where the hub does not serve the kind. */
async function readTemplate(hub: Client, template: KubeObject): Promise<KubeObject | undefined> {
  const { apiVersion, kind, metadata } = template;
  const type = await ifFound(hub.discovery.typeFor(template));
  if (!type) {
    throw new PromotionError(
      `the hub does not serve ${kind} of ${apiVersion}: apply its CustomResourceDefinition to the hub first`,
    );
  }
  return ifFound(hub.resource(type).get({ namespace: metadata?.namespace, name: metadata?.name ?? '' }));
}
