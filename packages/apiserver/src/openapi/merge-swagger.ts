import { isDeepStrictEqual } from 'node:util';
import type { SwaggerPart } from './remote-description.ts';
import { mapReferences, referencesIn } from './swagger-references.ts';

/**
 * A v2 document with a part of another server's. Definitions that both have and that are not the same get another name in what
 * is taken over (`NAME_v2`), as upstream does, and so does what refers to them.
 */
export function mergeSwagger<T extends SwaggerPart>(own: T, part: SwaggerPart | undefined): T {
  if (part === undefined) return own;
  const names = newNames(own.definitions, part.definitions);
  const renamed = (name: string): string => names.get(name) ?? name;
  const definitions = Object.entries(part.definitions).map(([name, value]) => [
    renamed(name),
    mapReferences(value, renamed),
  ]);
  return {
    ...own,
    paths: { ...own.paths, ...(mapReferences(part.paths, renamed) as object) },
    definitions: { ...own.definitions, ...Object.fromEntries(definitions) },
  };
}

function newNames(own: Record<string, unknown>, part: Record<string, unknown>): Map<string, string> {
  const shared = Object.keys(part).filter((name) => Object.hasOwn(own, name));
  const different = new Set(shared.filter((name) => !isDeepStrictEqual(own[name], part[name])));
  for (let size = -1; size !== different.size; ) {
    size = different.size;
    for (const name of shared) {
      if ([...referencesIn(part[name])].some((each) => different.has(each))) different.add(name);
    }
  }
  const names = new Map<string, string>();
  for (const name of different) {
    let number = 2;
    while (Object.hasOwn(own, `${name}_v${number}`) || Object.hasOwn(part, `${name}_v${number}`)) number++;
    names.set(name, `${name}_v${number}`);
  }
  return names;
}
