import type { KubeObject } from '@asterism/machinery';
import { type Fields, fieldsAt, listAt, optionalFields, textAt } from '../kinds/fields/draft-fields.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';
const CONTAINERS: readonly (readonly [list: string, what: string])[] = [
  ['containers', 'container'],
  ['initContainers', 'init container'],
];

/** Gives each container of a pod what a LimitRange says of containers and it does not say itself; an annotation tells of it. */
export function setDefaultResources(pod: KubeObject, range: KubeObject): void {
  const ofContainers = listAt(optionalFields(range, 'spec'), 'limits').filter(({ type }) => type === 'Container');
  const requests: Fields = Object.assign({}, ...ofContainers.map((limit) => optionalFields(limit, 'defaultRequest')));
  const limits: Fields = Object.assign({}, ...ofContainers.map((limit) => optionalFields(limit, 'default')));
  const told: string[] = [];
  for (const [list, what] of CONTAINERS) {
    for (const container of listAt(optionalFields(pod, 'spec'), list)) {
      const who = `${what} ${textAt(container, 'name')}`;
      const requested = setMissing(container, 'requests', requests);
      if (requested.length > 0) told.push(`${requested.join(', ')} request for ${who}`);
      const limited = setMissing(container, 'limits', limits);
      if (limited.length > 0) told.push(`${limited.join(', ')} limit for ${who}`);
    }
  }
  if (told.length === 0 || pod.metadata === undefined) return;
  pod.metadata.annotations = {
    ...pod.metadata.annotations,
    [ANNOTATION]: `LimitRanger plugin set: ${told.join('; ')}`,
  };
}

/** The names of what was missing, sorted. */
function setMissing(container: Fields, list: 'requests' | 'limits', defaults: Fields): string[] {
  const there = optionalFields(optionalFields(container, 'resources'), list) ?? {};
  const missing = Object.keys(defaults)
    .filter((name) => there[name] === undefined)
    .sort();
  if (missing.length === 0) return missing;
  const added = Object.fromEntries(missing.map((name) => [name, defaults[name]]));
  fieldsAt(container, 'resources')[list] = { ...there, ...added };
  return missing;
}
