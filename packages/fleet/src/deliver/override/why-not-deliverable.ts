import {
  isJsonObject,
  type KubeObject,
  ownMember,
  setMember,
  type Steps,
  validateAnnotations,
  validateLabels,
} from '@asterism/machinery';

/** Labels that are checked in one step: an object can have 60,000. */
const LABELS_OF_STEP = 4_096;

/** Why a step made an object of another identity or with invalid metadata. The member checks the rules of its kind. */
export function* whyNotDeliverable(before: KubeObject, after: KubeObject): Steps<string[]> {
  if (after === before) return [];
  const was = identityOf(before);
  const is = identityOf(after);
  const moved = Object.keys(was).filter((part) => was[part] !== is[part]);
  if (moved.length > 0) return [`it would become another object: an override cannot change its ${moved.join(', ')}`];
  const metadata = { labels: {}, annotations: {}, ...after.metadata };
  const notMaps: string[] = [];
  for (const field of ['labels', 'annotations'] as const) {
    if (before.metadata?.[field] === metadata[field]) continue;
    if (!isStringMap(metadata[field])) notMaps.push(field);
    yield;
  }
  if (notMaps.length > 0) return notMaps.map((field) => `its ${field} would not be a map of texts`);
  const faults: string[] = [];
  for (const labels of changedIn(before.metadata?.labels, metadata.labels)) {
    for (const fault of validateLabels(labels, 'metadata.labels')) faults.push(inWords(fault));
    yield;
  }
  if (before.metadata?.annotations === metadata.annotations) return faults;
  return [...faults, ...validateAnnotations(metadata.annotations, 'metadata.annotations').map(inWords)];
}

function inWords({ field, message }: { field: string; message: string }): string {
  return `its ${field} would not be valid: ${message}`;
}

/** The members that a step has set or changed, some at a time. */
function* changedIn(
  before: Record<string, string> = {},
  after: Record<string, string>,
): Generator<Record<string, string>> {
  if (before === after) return;
  let changed: Record<string, string> = {};
  for (const [index, key] of Object.keys(after).entries()) {
    if (ownMember(before, key) !== after[key]) setMember(changed, key, after[key]);
    if ((index + 1) % LABELS_OF_STEP > 0) continue;
    yield changed;
    changed = {};
  }
  yield changed;
}

function identityOf({ apiVersion = '', kind, metadata }: KubeObject): Record<string, unknown> {
  const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
  return { group, kind, name: metadata?.name, namespace: metadata?.namespace };
}

function isStringMap(value: unknown): boolean {
  return isJsonObject(value) && Object.values(value).every((text) => typeof text === 'string');
}
