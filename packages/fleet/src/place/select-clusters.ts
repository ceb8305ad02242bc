import { type Candidate, inCandidateOrder, TAKEN_BEFORE, totalAvailable } from './candidate.ts';
import { counted } from './counted.ts';
import { selectCombined } from './select-combined.ts';
import { type Group, selectGroups } from './select-groups.ts';
import { type Bounds, type Grouping, shortOfClusters, shortOfGroups, type Spread } from './spread-constraint.ts';

export interface SelectionDemand {
  spread: Spread;
  /** All bounds hold together and room is looked at, also where Karmada's rules for regions would not. */
  strict?: boolean | undefined;
  /** Replicas that the chosen clusters must have room for in all; undefined where room does not matter (Duplicated). */
  replicasToHold: number | undefined;
  /** Replicas of the template. */
  replicas: number;
}

/** The chosen, and in words why each of the others is not; or why there are none. */
export type Selection =
  | { selected: readonly Candidate[]; whyNot: (candidate: Candidate) => string }
  | { refused: string };

/** Chooses among candidates as the spread constraints ask. Without constraints all are chosen. */
export function selectClusters(candidates: readonly Candidate[], demand: SelectionDemand): Selection {
  const { spread, strict = false } = demand;
  const [grouping, ...more] = spread.groupings;
  const ordered = inCandidateOrder(candidates);
  if (!grouping && !spread.cluster) return { selected: ordered, whyNot: () => TAKEN_BEFORE };
  // Regions, beside bounds on clusters or alone, are chosen as Karmada does; nobody else has rules for the rest.
  if (strict || more.length > 0 || (grouping && grouping.by !== 'region')) return selectCombined(ordered, demand);
  if (grouping) return selectByGroup(ordered, demand, grouping);
  return selectByCluster(ordered, demand.replicasToHold, spread.cluster ?? ANY_NUMBER);
}

const ANY_NUMBER: Bounds = { minGroups: 1, maxGroups: Infinity };

/**
 * The first `maxGroups` in order. While they have too little room, beginning at the last of them, each is exchanged for the
 * roomiest of the others if that has more.
 */
function selectByCluster(ordered: readonly Candidate[], replicasToHold: number | undefined, bounds: Bounds): Selection {
  const short = shortOfClusters(ordered, bounds);
  if (short) return { refused: short };
  const { maxGroups } = bounds;
  const selected = ordered.slice(0, maxGroups);
  const whyNot = () => `the spread constraint lets in ${maxGroups} clusters: ${TAKEN_BEFORE}`;
  if (replicasToHold === undefined) return { selected, whyNot };
  const others = ordered.slice(selected.length);
  let room = totalAvailable(selected);
  for (let slot = selected.length - 1; slot >= 0 && room < replicasToHold; slot -= 1) {
    room += exchange(selected, slot, others);
  }
  if (room >= replicasToHold) return { selected, whyNot };
  return {
    refused: `the roomiest ${counted(selected.length, 'cluster')} can hold ${room} of ${replicasToHold} replicas`,
  };
}

/** @returns by how much the room has grown */
function exchange(selected: Candidate[], slot: number, others: Candidate[]): number {
  const present = selected[slot];
  if (!present) return 0;
  let roomiest = -1;
  let most = present.available;
  for (const [index, { available }] of others.entries()) {
    if (available <= most) continue;
    roomiest = index;
    most = available;
  }
  const better = others[roomiest];
  if (!better) return 0;
  selected[slot] = better;
  others[roomiest] = present;
  return better.available - present.available;
}

/** The first cluster of each chosen group, then the others of those groups in order, up to the bound on clusters. */
function selectByGroup(ordered: readonly Candidate[], demand: SelectionDemand, grouping: Grouping): Selection {
  const bounds = demand.spread.cluster ?? ANY_NUMBER;
  const members = Map.groupBy(ordered, ({ cluster }) => grouping.groupOf(cluster));
  const short = shortOfGroups([...members.keys()], grouping);
  if (short) return { refused: short };
  const groups = [...members].map(([name, clusters]) => {
    return { name, size: clusters.length, score: groupScore(clusters, demand, grouping, bounds) };
  });
  const chosen = selectGroups(groups, grouping, bounds.minGroups);
  if (!chosen) {
    const most = grouping.maxGroups === Infinity ? 'all groups' : `${grouping.maxGroups} groups`;
    return { refused: `${most} by ${grouping.by} together have fewer than the ${bounds.minGroups} clusters asked for` };
  }
  const clusters = chosen.map((name) => members.get(name) ?? []);
  const first = clusters.flatMap((group) => group.slice(0, 1));
  const rest = inCandidateOrder(clusters.flatMap((group) => group.slice(1)));
  const selected = [...first, ...rest.slice(0, Math.max(0, bounds.maxGroups - first.length))];
  return { selected, whyNot: whyNotOfGroups(groups, chosen, { grouping, bounds }) };
}

function whyNotOfGroups(
  groups: readonly Group[],
  chosen: readonly string[],
  { grouping: { by, groupOf }, bounds }: { grouping: Grouping; bounds: Bounds },
): (candidate: Candidate) => string {
  const scores = new Map(groups.map(({ name, score }) => [name, score]));
  const instead = chosen.map((name) => `${name} (score ${scores.get(name)})`).join(', ');
  const reasons = new Map(
    groups.map(({ name, score }) => [name, `its ${by} ${name} (score ${score}) gives way to ${instead}`]),
  );
  for (const name of chosen) {
    reasons.set(name, `its ${by} ${name} is chosen, but of clusters no more than ${bounds.maxGroups}: ${TAKEN_BEFORE}`);
  }
  return ({ cluster }) => reasons.get(groupOf(cluster)) ?? TAKEN_BEFORE;
}

/** How good a group is: room before everything, in steps of 1000, then the mean score of the clusters that give the room. */
function groupScore(
  clusters: readonly Candidate[],
  demand: SelectionDemand,
  grouping: Grouping,
  bounds: Bounds,
): number {
  const { replicas, replicasToHold } = demand;
  if (replicasToHold === undefined) {
    const whole = clusters.filter(({ available }) => available >= replicas);
    return whole.length === 0 ? 0 : whole.length * 1000 + meanScore(whole);
  }
  const share = Math.ceil(replicas / grouping.minGroups);
  const least = Math.max(bounds.minGroups, grouping.minGroups);
  let room = 0;
  let walked = 0;
  while (walked < clusters.length && (walked < least || room < share)) {
    room += clusters[walked]?.available ?? 0;
    walked += 1;
  }
  return Math.min(room, share) * 1000 + meanScore(clusters.slice(0, walked));
}

function meanScore(clusters: readonly Candidate[]): number {
  return Math.trunc(clusters.reduce((sum, { score }) => sum + score, 0) / clusters.length);
}
