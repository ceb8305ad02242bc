import type { DiscoveredResource } from '@asterism/client';
import { escapeLine, type KubeObject } from '@asterism/machinery';

export const OBJECT_FORMATS = ['json', 'yaml', 'name'] as const;
export type ObjectFormat = (typeof OBJECT_FORMATS)[number];

/** Objects as kubectl prints them: one as itself, several as a `List`. managedFields are left out. */
export async function formatObjects(
  objects: readonly KubeObject[],
  resource: DiscoveredResource | undefined,
  format: ObjectFormat,
  single: boolean,
): Promise<string> {
  if (format === 'name') {
    // Each on a line of its own, whatever a member calls it.
    const kind = resource ? [resource.singular || resource.resource, resource.group].filter(Boolean).join('.') : '';
    return objects.map((object) => `${escapeLine(`${kind}/${object.metadata?.name}`)}\n`).join('');
  }
  const plain = objects.map(withoutManagedFields);
  const document =
    single && plain.length === 1 ? plain[0] : { apiVersion: 'v1', kind: 'List', metadata: {}, items: plain };
  if (format === 'json') return `${JSON.stringify(document, null, 4)}\n`;
  const { toYaml } = await import('./yaml.ts');
  return toYaml(document);
}

function withoutManagedFields(object: KubeObject): KubeObject {
  if (object.metadata === undefined) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
