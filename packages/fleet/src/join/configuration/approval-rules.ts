import { validateLabels } from '@asterism/machinery';
import { type ClusterRegistration, type HubConfiguration, isReservedLabel } from '../../api/index.ts';

export type ApprovalRule = NonNullable<HubConfiguration['spec']['approvalRules']>[number];

/** What of a HubConfiguration counts, and in words what does not. */
export interface ApprovalRules {
  rules: readonly ApprovalRule[];
  /** Each names its rule. A rule with a fault lets nobody in. */
  faults: readonly string[];
}

/** The rules that mean something: what a schema can tell was refused before. */
export function readApprovalRules(configuration: HubConfiguration | undefined): ApprovalRules {
  const rules = configuration?.spec.approvalRules ?? [];
  const faulty = rules.map((rule) => ({ rule, faults: faultsOf(rule) }));
  return {
    rules: faulty.filter(({ faults }) => faults.length === 0).map(({ rule }) => rule),
    faults: faulty.flatMap(({ rule, faults }) => faults.map((fault) => `rule ${rule.name}: ${fault}`)),
  };
}

/** The first rule that lets the registration in, which was asked for by somebody of `groups`. */
export function matchingRule(
  rules: readonly ApprovalRule[],
  { clusterName, labels = {} }: Pick<ClusterRegistration['spec'], 'clusterName' | 'labels'>,
  groups: readonly string[],
): ApprovalRule | undefined {
  return rules.find(
    (rule) =>
      rule.tokenGroups.some((group) => groups.includes(group)) &&
      matchesPattern(rule.namePattern ?? '*', clusterName) &&
      Object.entries(rule.labels ?? {}).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value),
  );
}

/** `*` stands for anything, `?` for any one character. Takes time with the product of both lengths at worst. */
export function matchesPattern(pattern: string, text: string): boolean {
  let at = 0;
  let position = 0;
  /** Where to go on when what follows the last star does not fit: one more character is the star's. */
  let star = -1;
  let taken = 0;
  while (position < text.length) {
    if (pattern[at] === '*') {
      star = at;
      taken = position;
      at += 1;
    } else if (pattern[at] === '?' || pattern[at] === text[position]) {
      at += 1;
      position += 1;
    } else if (star >= 0) {
      taken += 1;
      position = taken;
      at = star + 1;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}

function faultsOf({ labels = {}, setLabels = {}, setProvider, setRegion, setZones }: ApprovalRule): string[] {
  const reserved = (map: Record<string, string>) => Object.keys(map).filter(isReservedLabel);
  return [
    ...reserved(labels).map((key) => `labels: no registration may ask for ${key}, so none ever fits`),
    ...reserved(setLabels).map((key) => `setLabels: ${key} is the hub's own`),
    ...validateLabels(labels, 'labels').map(textOf),
    ...validateLabels(setLabels, 'setLabels').map(textOf),
    ...emptyFields({ setProvider, setRegion, setZones }),
  ];
}

function emptyFields({
  setZones = [],
  ...fields
}: Pick<ApprovalRule, 'setProvider' | 'setRegion' | 'setZones'>): string[] {
  const values = [...Object.entries(fields), ...setZones.map((zone) => ['setZones', zone] as const)];
  return values.flatMap(([field, value]) => (value === '' ? [`${field}: it must not be empty`] : []));
}

const textOf = ({ field, message }: { field: string; message: string }): string => `${field}: ${message}`;
