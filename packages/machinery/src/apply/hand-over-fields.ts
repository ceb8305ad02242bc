import type { ManagedFieldsEntry } from '../object.ts';
import { EMPTY_SET, unionOfSets } from './field-set.ts';
import { readFieldsV1, writeFieldsV1 } from './fields-v1.ts';

export interface HandOver {
  /** Whose claims end. */
  from: (entry: ManagedFieldsEntry) => boolean;
  /** The manager who applies from now on. */
  to: string;
  /** The version in which it applies: fields that are described in another one stay with who has them. */
  apiVersion: string;
}

/**
 * The managedFields of an object whose fields go over from managers that wrote it before to one that applies it, as `kubectl apply
 * --server-side` does with what it has applied client-side. What the new manager then does not apply goes; otherwise it would stay for
 * ever, as somebody else's.
 *
 * @returns undefined where there is nothing to hand over
 */
export function handOverFields(
  entries: readonly ManagedFieldsEntry[],
  { from, to, apiVersion }: HandOver,
): ManagedFieldsEntry[] | undefined {
  const isHeir = ({ manager, operation, subresource }: ManagedFieldsEntry): boolean =>
    manager === to && operation === 'Apply' && !subresource;
  const heir = entries.find(isHeir);
  if (heir && heir.apiVersion !== apiVersion) return undefined;
  const given = entries.filter(
    (entry) => !isHeir(entry) && !entry.subresource && entry.apiVersion === apiVersion && from(entry),
  );
  if (given.length === 0) return undefined;
  const sets = [...(heir ? [heir] : []), ...given].map(({ fieldsV1 }) => readFieldsV1(fieldsV1) ?? EMPTY_SET);
  const { time } = heir ?? given[0] ?? {};
  const union: ManagedFieldsEntry = {
    manager: to,
    operation: 'Apply',
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: writeFieldsV1(unionOfSets(sets)),
  };
  return [...entries.filter((entry) => entry !== heir && !given.includes(entry)), union];
}
