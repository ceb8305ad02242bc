import type { Registry } from '../registry/registry.ts';
import type { ExtensionContext } from './extension/api-extension.ts';
import { connectOptionsObject } from './request/operation-options.ts';

/** Asks admission webhooks whether a connection may be made: rejects with the Status of a refusal. */
export function createConnectionAdmission(registry: Registry): (context: ExtensionContext) => Promise<void> {
  return async ({ request, user, namespace, name, resource, subresource, rest }) => {
    const object = connectOptionsObject(`${resource}/${subresource}`, request.query, rest);
    const served = registry.find('', 'v1', resource);
    if (object === undefined || served === undefined) return;
    const kind = { group: '', version: 'v1', kind: object.kind };
    await registry.admitUnstored(
      served,
      { operation: 'CONNECT', object, kind },
      { namespace, name, subresource, user, signal: request.signal },
    );
  };
}
