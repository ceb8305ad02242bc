import type { Client } from '@asterism/client';
import { isNotFound, type KubeObject, parseApiVersion } from '@asterism/machinery';
import type { Kind } from '../../template/kind-informers.ts';
import type { Policies } from '../match-policy.ts';

/**
 * Which of the versions, by which policies name these templates, their API server serves: what `choosePolicy` has to be told where
 * a template was read in another one. Nothing is asked where policies and templates name the same.
 */
export async function servedVersions(
  client: Client,
  templates: readonly KubeObject[],
  { namespaced, cluster }: Pick<Policies, 'namespaced' | 'cluster'>,
): Promise<(kind: Kind) => boolean> {
  const known = new Set(templates.map(({ apiVersion = '', kind = '' }) => keyOf({ apiVersion, kind })));
  const kinds = new Set(templates.map(({ apiVersion = '', kind = '' }) => kindOf({ apiVersion, kind })));
  const named = [...namespaced, ...cluster]
    .flatMap(({ spec }) => spec.resourceSelectors)
    .filter((selector) => kinds.has(kindOf(selector)) && !known.has(keyOf(selector)));
  const others = [...new Map(named.map((selector) => [keyOf(selector), selector])).values()];
  const served = await Promise.all(others.map((kind) => isServed(client, kind)));
  const unserved = new Set(others.filter((_, index) => !served[index]).map(keyOf));
  return (kind) => !unserved.has(keyOf(kind));
}

async function isServed({ discovery }: Client, { apiVersion, kind }: Kind): Promise<boolean> {
  try {
    await discovery.typeFor({ apiVersion, kind });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function keyOf({ apiVersion, kind }: Kind): string {
  return `${apiVersion}/${kind}`;
}

function kindOf({ apiVersion, kind }: Kind): string {
  return `${kind}.${parseApiVersion(apiVersion).group}`;
}
