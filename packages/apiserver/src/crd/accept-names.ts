import { deepEqual } from '@asterism/machinery';
import {
  type CustomResourceDefinition,
  type DefinitionCondition,
  type DefinitionNames,
  isConditionTrue,
  withCondition,
} from './custom-resource-definition.ts';

/**
 * The status that `definition` should have among the others of its group: names that another definition was given before
 * are not given again (`NamesAccepted`), and a definition is served (`Established`) from when all its names were accepted.
 * After that it stays served even if new names are refused. The rules of apiextensions' naming controller.
 */
export function acceptNames(
  definition: CustomResourceDefinition,
  others: readonly CustomResourceDefinition[],
  now: string,
): CustomResourceDefinition['status'] & object {
  const wanted = definition.spec?.names ?? {};
  const taken = takenNames(others);
  const accepted: DefinitionNames = { ...definition.status?.acceptedNames };
  const refused = refuse(wanted, accepted, taken);
  let conditions = [...(definition.status?.conditions ?? [])];
  const namesAccepted: DefinitionCondition = refused ?? {
    type: 'NamesAccepted',
    status: 'True',
    reason: 'NoConflicts',
    message: 'no conflicts found',
  };
  conditions = withCondition(conditions, { ...namesAccepted, lastTransitionTime: now });
  if (!refused && !isConditionTrue(definition, 'Established')) {
    conditions = withCondition(conditions, {
      type: 'Established',
      status: 'True',
      lastTransitionTime: now,
      reason: 'InitialNamesAccepted',
      message: 'the initial names have been accepted',
    });
  } else if (refused && !definition.status?.conditions?.some(({ type }) => type === 'Established')) {
    conditions = withCondition(conditions, {
      type: 'Established',
      status: 'False',
      lastTransitionTime: now,
      reason: 'NotAccepted',
      message: 'not all names are accepted',
    });
  }
  const acceptedNames = deepEqual(accepted, definition.status?.acceptedNames)
    ? definition.status?.acceptedNames
    : accepted;
  return { ...definition.status, conditions, ...(acceptedNames ? { acceptedNames } : {}) };
}

interface TakenNames {
  /** Plural, singular and short names: all of them stand in the same place of a command. */
  resources: ReadonlySet<string>;
  kinds: ReadonlySet<string>;
}

function takenNames(others: readonly CustomResourceDefinition[]): TakenNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { status } of others) {
    const { plural, singular, shortNames = [], kind, listKind } = status?.acceptedNames ?? {};
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name);
    for (const name of [kind, listKind]) if (name) kinds.add(name);
  }
  return { resources, kinds };
}

/** Moves every wanted name that is free into `accepted`; returns the condition that names the last one that is not. */
function refuse(
  wanted: DefinitionNames,
  accepted: DefinitionNames,
  taken: TakenNames,
): DefinitionCondition | undefined {
  let refused: DefinitionCondition | undefined;
  const offer = (set: ReadonlySet<string>, names: readonly string[], reason: string, accept: () => void): void => {
    const clash = names.find((name) => set.has(name));
    if (clash === undefined) accept();
    else
      refused = {
        type: 'NamesAccepted',
        status: 'False',
        reason,
        message: `${JSON.stringify(clash)} is already in use`,
      };
  };
  const { plural = '', singular = '', shortNames, kind = '', listKind = '', categories } = wanted;
  offer(taken.resources, [plural], 'PluralConflict', () => (accepted.plural = plural));
  offer(taken.resources, [singular], 'SingularConflict', () => (accepted.singular = singular));
  offer(taken.resources, shortNames ?? [], 'ShortNamesConflict', () => {
    if (shortNames?.length) accepted.shortNames = shortNames;
    else delete accepted.shortNames;
  });
  offer(taken.kinds, [kind], 'KindConflict', () => (accepted.kind = kind));
  offer(taken.kinds, [listKind], 'ListKindConflict', () => (accepted.listKind = listKind));
  if (categories?.length) accepted.categories = categories;
  else delete accepted.categories;
  return refused;
}
