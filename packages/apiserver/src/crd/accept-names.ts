import { deepEqual } from '@asterism/machinery';
import { approvalCondition } from './api-approval.ts';
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
  const approval = approvalCondition(definition);
  if (approval) conditions = withCondition(conditions, { ...approval, lastTransitionTime: now });
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
  const { plural = '', singular = '', shortNames = [], kind = '', listKind = '', categories = [] } = wanted;
  const refuseFor = (reason: string, names: readonly string[]): void => {
    const faults = names.map((name) => `${JSON.stringify(name)} is already in use`);
    const message = faults.length === 1 ? (faults[0] ?? '') : `[${faults.join(', ')}]`;
    refused = { type: 'NamesAccepted', status: 'False', reason, message };
  };
  // What was accepted before stays, whoever wants it now.
  const offer = (field: 'plural' | 'singular' | 'kind' | 'listKind', name: string, set: ReadonlySet<string>): void => {
    if (name !== accepted[field] && set.has(name)) refuseFor(CONFLICTS[field], [name]);
    else accepted[field] = name;
  };
  offer('plural', plural, taken.resources);
  offer('singular', singular, taken.resources);
  const clashes = shortNames.filter((name) => !accepted.shortNames?.includes(name) && taken.resources.has(name));
  if (clashes.length > 0) refuseFor('ShortNamesConflict', clashes);
  else setList(accepted, 'shortNames', shortNames);
  offer('kind', kind, taken.kinds);
  offer('listKind', listKind, taken.kinds);
  setList(accepted, 'categories', categories);
  return refused;
}

const CONFLICTS = {
  plural: 'PluralConflict',
  singular: 'SingularConflict',
  kind: 'KindConflict',
  listKind: 'ListKindConflict',
} as const;

function setList(names: DefinitionNames, field: 'shortNames' | 'categories', list: string[]): void {
  if (list.length > 0) names[field] = list;
  else delete names[field];
}
