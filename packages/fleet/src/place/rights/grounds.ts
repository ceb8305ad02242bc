import type { KubeObject } from '@asterism/machinery';
import type { Binding } from '../../template/binding-client.ts';
import type { PlacingLimits } from './permit-filter.ts';
import type { Judgement, Unplaceable } from './placing-rights.ts';

type BindingSpec = Binding['spec'];

/** What one decision takes from the rights of the policy's author. */
export interface Grounds {
  /** Recorded in the binding; undefined while a binding of an older release keeps what it has in spite of a missing right. */
  authority: string | undefined;
  unread: string | undefined;
  refusals: ReadonlyMap<string, string>;
  /** The clusters that the binding must not name. */
  unplaceable?: Unplaceable | undefined;
  /** Objects that must not follow the template. */
  withheld: NonNullable<BindingSpec['withheld']>;
}

/**
 * The grounds of a decision.
 *
 * A binding without an `authority` was decided by a release that asked for no rights. As long as a right is missing, and nobody is
 * recorded as the policy's author, it keeps the clusters that it has and gets no other: an upgrade removes nothing.
 */
export function groundsOf(
  { authority, recorded, unread, refusals, unplaceable }: Judgement,
  last: BindingSpec | undefined,
  withheld: Grounds['withheld'],
): Grounds {
  const isOlder = last?.policy !== undefined && last.authority === undefined && !recorded;
  const had = new Set((isOlder ? last.clusters : undefined)?.map(({ name }) => name));
  const isMissing = unread !== undefined || [...had].some((name) => refusals.has(name));
  if (!isMissing || had.size === 0) return { authority, unread, refusals, unplaceable, withheld };
  const kept = [...refusals].filter(([name]) => !had.has(name));
  const hidden = unplaceable && { ...unplaceable, clusters: unplaceable.clusters.difference(had) };
  return { authority: undefined, unread: undefined, refusals: new Map(kept), unplaceable: hidden, withheld };
}

/** Where a template must not be, whatever its policy says. */
export function limitsOf({ apiVersion, kind, metadata = {} }: KubeObject, grounds: Grounds | undefined): PlacingLimits {
  const isNamespace = apiVersion === 'v1' && kind === 'Namespace';
  return { namespace: isNamespace ? metadata.name : metadata.namespace, refusals: grounds?.refusals };
}
