import { isJsonObject, isStatusError, type KubeObject, parseJson } from '@asterism/machinery';

/** What an API server made of a manifest, and the fields of it that it does not know. */
export interface AppliedManifest {
  live: KubeObject;
  omitted: readonly string[];
}

/** Applies a manifest without what the API server does not know, as that would be left out of anything that is created there. */
export async function applyDeclared(
  manifest: KubeObject,
  apply: (known: KubeObject) => Promise<KubeObject>,
): Promise<AppliedManifest> {
  const omitted: string[] = [];
  for (let known = manifest; ; ) {
    try {
      return { live: await apply(known), omitted };
    } catch (error) {
      const unknown = isStatusError(error) ? undeclaredFields(error.message) : [];
      const rest = withoutFields(known, unknown);
      if (rest === known) throw error;
      omitted.push(...unknown);
      known = rest;
    }
  }
}

/**
 * The fields that an API server's refusal of an apply names as unknown to it, as it writes them: `.spec.internalTrafficPolicy`,
 * `.spec.template.spec.containers[name="web"].resizePolicy`. Create and update drop such fields, apply does not; an older server
 * so refuses an object because of a default that a newer one has put in.
 */
export function undeclaredFields(message: string): string[] {
  const parts = message.split(': field not declared in schema', MOST_PATHS + 1).slice(0, -1);
  return parts.flatMap((part) => {
    const line = part.slice(part.lastIndexOf('\n') + 1);
    const start = line.search(/\.\S/);
    return start < 0 ? [] : [line.slice(start)];
  });
}

/** A server names a field for each apply; a member that names thousands is not asked for a copy of the object for each. */
const MOST_PATHS = 200;
/** No field of an object is named by a longer path. */
const MOST_CHARACTERS = 8_192;

/** The object without those fields; the very object where it has none of them. */
export function withoutFields(object: KubeObject, paths: readonly string[]): KubeObject {
  return paths.reduce<KubeObject>((rest, path) => without(rest, stepsOf(path)) as KubeObject, object);
}

/** A member of an object, or the items of a list: one by its index, or those that have these values. */
type Step = { field: string } | { index: number } | { values: Record<string, unknown> };

/** No steps at all where the path cannot be read. */
function stepsOf(path: string): Step[] {
  if (path.length > MOST_CHARACTERS) return [];
  const steps: Step[] = [];
  const step = /\.([^.[\]:\s]+)|\[((?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]/y;
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    const read = match && stepOf(match);
    if (!read) return [];
    steps.push(read);
  }
  return steps;
}

function stepOf([, field, inside = '']: RegExpExecArray): Step | undefined {
  if (field !== undefined) return { field };
  if (/^\d+$/.test(inside)) return { index: Number(inside) };
  const pairs = [...inside.matchAll(/([^,="]+)=("(?:[^"\\]|\\.)*"|[^,"]+),?/gy)];
  if (pairs.length === 0) return undefined;
  return { values: Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, valueOf(value)])) };
}

function valueOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

function without(value: unknown, [step, ...rest]: readonly Step[]): unknown {
  if (step === undefined) return value;
  if ('field' in step) {
    if (!isJsonObject(value) || !(step.field in value)) return value;
    const { [step.field]: child, ...others } = value;
    if (rest.length === 0) return others;
    const changed = without(child, rest);
    return changed === child ? value : { ...value, [step.field]: changed };
  }
  if (!Array.isArray(value) || rest.length === 0) return value;
  const items = value.map((item: unknown, index) => (isMeant(step, item, index) ? without(item, rest) : item));
  return items.every((item, index) => item === value[index]) ? value : items;
}

function isMeant(step: Exclude<Step, { field: string }>, item: unknown, index: number): boolean {
  if ('index' in step) return step.index === index;
  return isJsonObject(item) && Object.entries(step.values).every(([key, value]) => item[key] === value);
}
