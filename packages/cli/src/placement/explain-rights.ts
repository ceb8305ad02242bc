import type { Binding } from '@asterism/fleet/template';

type Rights = Pick<Binding['spec'], 'authority' | 'decisions' | 'withheld' | 'hiddenClusters'>;

/** Lists the clusters that are not shown, whose rights the policy places with if one is missing, and the objects that do not follow. */
export function explainRights({ authority, decisions = [], withheld = [], hiddenClusters }: Rights): string[] {
  const isMissing =
    withheld.length > 0 || hiddenClusters !== undefined || decisions.some(({ reason }) => reason === 'NotPermitted');
  return [
    ...(hiddenClusters ? [hiddenClusters.message] : []),
    ...(isMissing && authority ? [`The policy places with the rights of ${authority}`] : []),
    ...withheld.map(({ kind, name, message }) => `Not taken along, ${kind} ${name}: ${message}`),
  ];
}
