import { isJsonObject, type KubeObject, schemaOfKind, updateManagedFields } from '@asterism/machinery';
import type { ServedResource, ServedSubresource } from '../../contract/served-resource.ts';

export interface FieldOwnerOptions {
  resource: ServedResource;
  subresource: ServedSubresource | undefined;
  fieldManager: string;
  /** Milliseconds since 1970. */
  now: number;
}

/** The answer to what is not stored names the owner of its fields too, as upstream's does. */
export function withFieldOwner(
  posted: KubeObject,
  answer: KubeObject,
  { fieldManager, now, resource, subresource }: FieldOwnerOptions,
): KubeObject {
  const schema = schemaOfKind(subresource ?? resource.type);
  // An answer without anything of what was posted has no owners either.
  if (schema === undefined || (isJsonObject(answer.spec) && Object.keys(answer.spec).length === 0)) return answer;
  const managedFields = updateManagedFields({
    before: undefined,
    after: posted,
    schema,
    manager: fieldManager,
    time: `${new Date(now).toISOString().slice(0, 19)}Z`,
    ...(subresource === undefined ? {} : { subresource: subresource.name }),
  });
  return managedFields === undefined ? answer : { ...answer, metadata: { ...answer.metadata, managedFields } };
}
