import { failure, formatGroupResource, type StatusError } from '@asterism/machinery';
import type { AuthorizationAttributes } from './authorizer.ts';

/** The 403 that clients know: `pods is forbidden: User "x" cannot list resource "pods" in API group "" in the namespace "default"`. */
export function forbiddenError(attributes: AuthorizationAttributes, reason: string): StatusError {
  const { resource, group = '', name = '' } = attributes;
  const why = describeRefusal(attributes) + (reason === '' ? '' : `: ${reason}`);
  if (resource === undefined) return failure(403, `forbidden: ${why}`, { details: {} });
  const kind = formatGroupResource({ group, resource });
  const what = name === '' ? kind : `${kind} ${JSON.stringify(name)}`;
  return failure(403, `${what} is forbidden: ${why}`, {
    details: { ...(name === '' ? {} : { name }), ...(group === '' ? {} : { group }), kind: resource },
  });
}

function describeRefusal(attributes: AuthorizationAttributes): string {
  const { user, verb, group = '', resource, subresource = '', namespace = '', path = '' } = attributes;
  const who = `User ${JSON.stringify(user.username)} cannot ${verb}`;
  if (resource === undefined) return `${who} path ${JSON.stringify(path)}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}
