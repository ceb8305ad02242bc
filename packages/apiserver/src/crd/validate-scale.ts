import {
  type FieldError,
  fieldInvalid,
  formatGoValue,
  goTypeOf,
  isJsonObject,
  type KubeObject,
} from '@asterism/machinery';
import type { ScalePaths } from '../registry/served-version.ts';

const MAX_REPLICAS = 2 ** 31 - 1;

/** Faults of the values that a custom resource's Scale shows of its spec, in the words of apiextensions' validator. */
export function validateScaleSpec(object: KubeObject, { specReplicasPath }: ScalePaths): FieldError[] {
  return validateReplicas(object, specReplicasPath);
}

/** The same of its status. */
export function validateScaleStatus(object: KubeObject, paths: ScalePaths): FieldError[] {
  const { statusReplicasPath, labelSelectorPath } = paths;
  const faults = validateReplicas(object, statusReplicasPath);
  if (!labelSelectorPath) return faults;
  const { value, fault } = readNested(object, labelSelectorPath, 'string');
  if (fault !== undefined) faults.push(fieldInvalid(labelSelectorPath, value ?? '', fault));
  return faults;
}

function validateReplicas(object: KubeObject, path: string): FieldError[] {
  const { value = 0, fault } = readNested(object, path, 'int64');
  if (fault !== undefined) return [fieldInvalid(path, 0, fault)];
  const replicas = Number(value);
  if (replicas < 0) return [fieldInvalid(path, replicas, 'should be a non-negative integer')];
  if (replicas <= MAX_REPLICAS) return [];
  return [fieldInvalid(path, replicas, `should be less than or equal to ${MAX_REPLICAS}`)];
}

/** The value at a path of plain fields; a fault where it, or what leads to it, is of another type. */
function readNested(object: unknown, path: string, type: string): { value?: unknown; fault?: string } {
  const fields = path.replace(/^\./, '').split('.');
  let value = object;
  for (const [i, field] of fields.entries()) {
    if (value === null || value === undefined) return {};
    if (!isJsonObject(value)) return { fault: accessorFault(fields.slice(0, i + 1), value, 'map[string]interface {}') };
    if (!Object.hasOwn(value, field)) return {};
    value = value[field];
  }
  return goTypeOf(value) === type ? { value } : { fault: accessorFault(fields, value, type) };
}

function accessorFault(fields: readonly string[], value: unknown, type: string): string {
  const expected = type === 'map[string]interface {}' ? 'map[string]interface{}' : type;
  const found = `${formatGoValue(value)} is of the type ${goTypeOf(value)}`;
  return `.${fields.join('.')} accessor error: ${found}, expected ${expected}`;
}
