import { formatJsonPointer, isJsonObject, type KubeObject, valueAtPointer } from '@asterism/machinery';
import { podSpecPaths } from '../../template/pod-template.ts';

export interface ContainerPlace {
  /** Where it stands, as a JSON pointer. */
  pointer: string;
  isInit: boolean;
  name: string;
  /** Empty where it has none. */
  image: string;
  command: string[];
  args: string[];
}

const FIELDS = ['containers', 'initContainers'] as const;

/** The containers and init containers of any object that runs pods. */
export function containersOf(object: KubeObject): ContainerPlace[] {
  return podSpecPaths(object).flatMap((base) =>
    FIELDS.flatMap((field) => {
      const path = [...base, field];
      const list = valueAtPointer(object, path.map(String));
      if (!Array.isArray(list)) return [];
      return list.flatMap((container, index) =>
        isJsonObject(container) ? [placeOf(container, formatJsonPointer([...path, index]), field)] : [],
      );
    }),
  );
}

function placeOf(container: Record<string, unknown>, pointer: string, field: (typeof FIELDS)[number]): ContainerPlace {
  return {
    pointer,
    isInit: field === 'initContainers',
    name: textOf(container['name']),
    image: textOf(container['image']),
    command: listOf(container['command']),
    args: listOf(container['args']),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
