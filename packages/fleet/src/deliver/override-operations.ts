import {
  formatJsonPointer,
  isJsonObject,
  type JsonPatchOperation,
  type KubeObject,
  parseJsonPointer,
  valueAtPointer,
} from '@asterism/machinery';
import type { Overriders } from '../api/index.ts';
import { podSpecPath } from '../place/pod-template.ts';
import { formatImage, type Image, parseImage, versionOf, withVersion } from './image.ts';

/** What an overrider comes to for one object. */
export interface OverrideStep {
  operations: JsonPatchOperation[];
  /** Where it changes nothing, why: the rest applies. */
  remarks: string[];
  /** Where it cannot be done, why: then the object must not be delivered as it is. */
  faults: string[];
}

type Overrider<K extends keyof Overriders> = NonNullable<Overriders[K]>[number];

const done = (...operations: JsonPatchOperation[]): OverrideStep => ({ operations, remarks: [], faults: [] });
const nothing = (...remarks: string[]): OverrideStep => ({ operations: [], remarks, faults: [] });
const impossible = (...faults: string[]): OverrideStep => ({ operations: [], remarks: [], faults });

/** Changes the registry, repository or version of the image at the predicate's path, or of every container. */
export function imageOperations(object: KubeObject, overrider: Overrider<'imageOverrider'>): OverrideStep {
  if (overrider.operator !== 'remove' && !overrider.value) {
    return impossible(`imageOverrider ${overrider.operator} ${overrider.component} has no value`);
  }
  if (overrider.predicate) {
    const { path } = overrider.predicate;
    const tokens = parseJsonPointer(path);
    const image = tokens && valueAtPointer(object, tokens);
    if (typeof image !== 'string') return impossible(`imageOverrider: there is no image at ${path}`);
    return done(...changed(image, path, overrider));
  }
  const containers = containersOf(object);
  if (containers.length === 0) return nothing('imageOverrider: the object has no containers');
  return done(...containers.flatMap(({ pointer, image }) => changed(image, `${pointer}/image`, overrider)));
}

function changed(text: string, path: string, overrider: Overrider<'imageOverrider'>): JsonPatchOperation[] {
  const value = formatImage(overrideImage(parseImage(text), overrider));
  return value === text ? [] : [{ op: 'replace', path, value }];
}

function overrideImage(image: Image, { component, operator, value = '' }: Overrider<'imageOverrider'>): Image {
  const revise = (present: string) => (operator === 'add' ? present + value : operator === 'replace' ? value : '');
  switch (component) {
    case 'Registry':
      return { ...image, registry: revise(image.registry) };
    case 'Repository':
      return { ...image, repository: revise(image.repository) };
    case 'Tag':
      return withVersion(image, revise(versionOf(image)));
  }
}

/** Appends to, or takes out of, the `command` or the `args` of one container. */
export function listOperations(
  object: KubeObject,
  field: 'command' | 'args',
  { containerName, operator, value }: Overrider<'argsOverrider'>,
): OverrideStep {
  const container = containersOf(object).find(({ name }) => name === containerName);
  if (!container) return nothing(`${field}Overrider: there is no container ${containerName}`);
  const present = container[field];
  const list = operator === 'add' ? [...present, ...value] : present.filter((item) => !value.includes(item));
  if (list.length === present.length)
    return nothing(`${field}Overrider: container ${containerName} has none of ${value.join(' ')}`);
  return done({ op: 'add', path: `${container.pointer}/${field}`, value: list });
}

/** Sets or removes labels or annotations. `replace` and `remove` are for keys that are there. */
export function mapOperations(
  object: KubeObject,
  field: 'labels' | 'annotations',
  { operator, value }: Overrider<'labelsOverrider'>,
): OverrideStep {
  const present = object.metadata?.[field] ?? {};
  const next = { ...present };
  const remarks: string[] = [];
  for (const [key, text] of Object.entries(value)) {
    if (operator !== 'add' && !Object.hasOwn(present, key))
      remarks.push(`${field}Overrider: there is no ${key} to ${operator}`);
    else if (operator === 'remove') delete next[key];
    else next[key] = text;
  }
  return { operations: [{ op: 'add', path: `/metadata/${field}`, value: next }], remarks, faults: [] };
}

/** A JSON patch operation, as it stands. What it must find and does not is a fault. */
export function plaintextOperations(
  object: KubeObject,
  { path, operator, value }: Overrider<'plaintext'>,
): OverrideStep {
  const there = valueAtPointer(object, parseJsonPointer(path) ?? []) !== undefined;
  if (operator !== 'add' && !there) return impossible(`plaintext: there is nothing at ${path} to ${operator}`);
  if (operator === 'remove') return done({ op: 'remove', path });
  return value === undefined
    ? impossible(`plaintext: ${operator} ${path} has no value`)
    : done({ op: operator, path, value });
}

interface ContainerPlace {
  pointer: string;
  name: string;
  image: string;
  command: string[];
  args: string[];
}

/** The containers and init containers of any object that runs pods. */
function containersOf(object: KubeObject): ContainerPlace[] {
  const base = podSpecPath(object);
  if (!base) return [];
  return ['containers', 'initContainers'].flatMap((field) => {
    const list = valueAtPointer(object, [...base, field]);
    if (!Array.isArray(list)) return [];
    return list.filter(isJsonObject).map((container, index) => ({
      pointer: formatJsonPointer([...base, field, index]),
      name: textOf(container['name']),
      image: textOf(container['image']),
      command: listOf(container['command']),
      args: listOf(container['args']),
    }));
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
