import type { SwaggerPart } from '../openapi/remote-description.ts';
import { referencesIn } from '../openapi/swagger-references.ts';

/** What a v2 document says of one group-version. */
export function cutSwagger(document: unknown, { group, version }: { group: string; version: string }): SwaggerPart {
  const { paths = {}, definitions = {} } = (document ?? {}) as Partial<SwaggerPart>;
  const root = `/apis/${group}/${version}`;
  const own = Object.entries(paths).filter(([path]) => path === root || path.startsWith(`${root}/`));
  const reached: Record<string, unknown> = {};
  const waiting = [...referencesIn(Object.fromEntries(own))];
  for (const [name, definition] of Object.entries(definitions)) {
    if (isOfVersion(definition, { group, version })) waiting.push(name);
  }
  while (waiting.length > 0) {
    const name = waiting.pop()!;
    if (Object.hasOwn(reached, name) || !Object.hasOwn(definitions, name)) continue;
    reached[name] = definitions[name];
    waiting.push(...referencesIn(definitions[name]));
  }
  return { paths: Object.fromEntries(own), definitions: reached };
}

/** A kind of this group-version alone: `DeleteOptions` and the like are of all. */
function isOfVersion(definition: unknown, at: { group: string; version: string }): boolean {
  const kinds = (definition as Record<string, unknown> | null)?.['x-kubernetes-group-version-kind'];
  if (!Array.isArray(kinds) || kinds.length !== 1) return false;
  const [{ group, version } = {}] = kinds as { group?: string; version?: string }[];
  return group === at.group && version === at.version;
}
