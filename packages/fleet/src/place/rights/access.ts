import { formatGroupResource, type ResourceType } from '@asterism/machinery';
import { CLUSTERS, PLACE_VERB } from '../../api/index.ts';

/** What a subject needs the right to: a verb on a resource, on one object of it or (without a name) on all. */
export interface Access {
  verb: string;
  group: string;
  resource: string;
  namespace?: string | undefined;
  name?: string | undefined;
}

/** To place in a cluster, or (without a name) in every one. */
export function placing(cluster?: string): Access {
  return { verb: PLACE_VERB, group: CLUSTERS.group, resource: CLUSTERS.resource, name: cluster };
}

/** To read one object, or (without a name) all of the kind in the namespace. */
export function reading(
  { group, resource, namespaced }: ResourceType,
  { namespace, name }: { namespace?: string | undefined; name?: string | undefined },
): Access {
  return { verb: 'get', group, resource, namespace: namespaced ? namespace : undefined, name };
}

/** To read every object of every kind. */
export const READING_EVERYTHING: Access = { verb: 'get', group: '*', resource: '*' };

/** `verb place on clusters.asterism.dev "birch"`. */
export function formatAccess({ verb, group, resource, namespace, name }: Access): string {
  const which = name === undefined ? '' : ` ${JSON.stringify(name)}`;
  const where = namespace === undefined ? '' : ` in namespace ${JSON.stringify(namespace)}`;
  return `verb ${verb} on ${formatGroupResource({ group, resource })}${which}${where}`;
}

/** The refusal of a subject's request, in the words of a Kubernetes API server. */
export function formatRefusal(username: string, { verb, group, resource, namespace, name }: Access): string {
  const which = name === undefined ? '' : ` named ${JSON.stringify(name)}`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `User ${JSON.stringify(username)} cannot ${verb} resource ${JSON.stringify(resource)}${which} in API group ${JSON.stringify(group)} ${where}`;
}
