import type { OpenApiSchema } from '@asterism/machinery';
import type { ApiExtension } from '../http/extension/api-extension.ts';
import type { ServedResource } from '../contract/served-resource.ts';

/** What OpenAPI says of a resource, be it the registry's or an extension's. */
export type DescribedResource = Pick<
  ServedResource,
  'type' | 'listKind' | 'verbs' | 'subresources' | 'storage' | 'schema' | 'selectableFields'
>;

const ANYTHING: OpenApiSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** The resources of an extension, which OpenAPI describes as it does custom resources. */
export function describeExtension({ group, version, resources }: ApiExtension): DescribedResource[] {
  return resources.map(({ resource, kind, namespaced, verbs, subresources = [], schema = ANYTHING }) => ({
    type: { group, version, resource, kind, namespaced },
    listKind: `${kind}List`,
    verbs,
    subresources: subresources.map((subresource) => ({ group, version, ...subresource })),
    storage: 'custom',
    schema,
  }));
}
