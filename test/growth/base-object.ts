import { Choices } from '../differential/choices.ts';
import { GENERATED_KINDS } from '../differential/objects/generated-kinds.ts';
import { makeObject } from '../differential/objects/generated-kind.ts';
import type { ServedKind } from './served-kinds.ts';

/** An object of the kind into which a value is put: a sound one where the tests know how to make one. */
export function baseObject({ apiVersion, kind, namespaced }: ServedKind, name: string): object {
  const metadata = { name, ...(namespaced ? { namespace: 'default' } : {}) };
  const known = GENERATED_KINDS.find((each) => each.kind === kind && each.apiVersion === apiVersion);
  return known ? makeObject(known, new Choices(1, kind), metadata) : { apiVersion, kind, metadata };
}
