import type { Client } from '@asterism/client';
import { isStatusError, type KubeObject } from '@asterism/machinery';
import type { Binding } from '../../template/binding-client.ts';
import { isOf, type Policy, selectionBy } from '../match-policy.ts';
import { isReserved } from '../../template/reserved.ts';
import { AccessReviews } from '../rights/access-reviews.ts';
import { readAuthor } from '../rights/author.ts';
import { authorizeAsCaller } from '../rights/caller-rights.ts';
import type { Grounds } from '../rights/grounds.ts';
import { PlacingRights, type PlacingRightsOptions, writersText } from '../rights/placing-rights.ts';
import { policyWriters } from '../rights/policy-writers.ts';
import { readRbac } from '../rights/read-rbac.ts';
import type { Subject } from '../rights/subject.ts';
import { TemplateRights } from '../rights/template-rights.ts';
import { formatTemplateKey, templateKeyOf } from '../../template/template-key.ts';
import type { FleetRights, ImaginedFleet } from './preview-placements.ts';

/** Why the rights cannot be found out. */
export interface UnknownRights {
  unknown: string;
}

/** Every API server with RBAC has this role. One that only holds templates for a hub elsewhere does not. */
const ROLE_OF_RBAC = 'cluster-admin';

/** Templates about which rights are asked for at the same time. */
const AT_ONCE = 16;

/**
 * Asks the hub for the rights that it asks for when it decides. The caller needs the right to create SubjectAccessReviews; without it the
 * rights of the caller's own policies are found out, and those of others are unknown.
 *
 * The grounds name every cluster: the caller may read the clusters of the fleet, or could not imagine it.
 */
export async function readRights(
  hub: Client,
  fleet: ImaginedFleet,
  signal: AbortSignal = new AbortController().signal,
): Promise<FleetRights | UnknownRights> {
  try {
    return await judgeFleet(hub, fleet, signal);
  } catch (error) {
    if (error instanceof RolesElsewhere || isStatusError(error, 'Forbidden')) return { unknown: error.message };
    throw error;
  }
}

class RolesElsewhere extends Error {
  override readonly name = 'RolesElsewhere';
}

async function judgeFleet(hub: Client, fleet: ImaginedFleet, signal: AbortSignal): Promise<FleetRights> {
  const { templates, bindings, policies, clusters } = fleet;
  const byKey = new Map(templates.map((template) => [keyOf(template), template]));
  const bindingOf = new Map(bindings.map((binding) => [formatTemplateKey(binding.spec.resource), binding]));
  const rights = new TemplateRights({
    rights: new PlacingRights({
      reviews: new AccessReviews(authorizeAsCaller(hub)),
      writers: writersOnce(hub),
      authorsRecorded: areAuthorsRecorded(fleet),
    }),
    typeOf: (object) => hub.discovery.typeFor(object),
    known: (key) => byKey.get(formatTemplateKey(key)),
    policyOf: () => undefined,
  });
  const all = [...policies.namespaced, ...policies.cluster];
  const found = new Map<Policy, Map<string, Grounds>>(all.map((policy) => [policy, new Map()]));
  const judge = async (template: KubeObject): Promise<void> => {
    if (template.metadata?.deletionTimestamp || isReserved(template)) return;
    const last = bindingOf.get(keyOf(template))?.spec;
    for (const policy of all) {
      if (policy.metadata.namespace !== undefined && policy.metadata.namespace !== template.metadata?.namespace)
        continue;
      if (!selectionBy(policy, template, policies.serves)) continue;
      const grounds = await rights.groundsOf(policy, template, { clusters, last }, signal);
      found.get(policy)?.set(keyOf(template), { ...grounds, unplaceable: undefined });
    }
  };
  for (let from = 0; from < templates.length; from += AT_ONCE)
    await Promise.all(templates.slice(from, from + AT_ONCE).map(judge));
  return { groundsOf: (policy, template) => found.get(policy)?.get(keyOf(template)) };
}

/** Roles are read once, if they matter: a preview is of one moment. */
function writersOnce(hub: Client): PlacingRightsOptions['writers'] {
  let reading: ReturnType<typeof readRbac> | undefined;
  const known = new Map<string | undefined, Subject[]>();
  return {
    async of({ metadata: { namespace } }, signal) {
      const rbac = await (reading ??= readRbac(hub, signal));
      if (!rbac.clusterRole(ROLE_OF_RBAC)) {
        throw new RolesElsewhere('this API server does not know the roles of those who may write policies');
      }
      const writers = known.get(namespace) ?? policyWriters(rbac, namespace);
      known.set(namespace, writers);
      return writers;
    },
  };
}

/**
 * Whether the hub records authors. Where it does not, an author that a policy names is what its writer wants to be, and the bindings of
 * such a policy name another authority.
 */
function areAuthorsRecorded({ policies, bindings }: Pick<ImaginedFleet, 'policies' | 'bindings'>): boolean {
  const authored = [...policies.namespaced, ...policies.cluster].filter((policy) => readAuthor(policy));
  const isUnheard = ({ spec }: Binding): boolean =>
    authored.some((policy) => spec.policy && isOf(spec.policy, policy) && spec.authority === writersText(policy));
  return !bindings.some(isUnheard);
}

function keyOf(template: KubeObject): string {
  return formatTemplateKey(templateKeyOf(template));
}
