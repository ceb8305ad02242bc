import { isJsonObject, type KubeObject } from '@asterism/machinery';

/** Set by each API server for itself: no difference between what is and what is wanted. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  'managedFields',
  'resourceVersion',
  'uid',
  'creationTimestamp',
  'generation',
  'selfLink',
]);

/** Two objects as lines of YAML with sorted keys, without what a server sets by itself and without status. Values of a Secret are not shown. */
export async function comparableLines(
  before: KubeObject | undefined,
  after: KubeObject | undefined,
): Promise<[string[] | undefined, string[] | undefined]> {
  const { toYaml } = await import('./yaml.ts');
  const lines = (object: KubeObject | undefined): string[] | undefined =>
    object && toYaml(withoutServerFields(object), { sortMapEntries: true }).trimEnd().split('\n');
  const [shownBefore, shownAfter] = maskSecrets(before, after);
  return [lines(shownBefore), lines(shownAfter)];
}

function withoutServerFields(object: KubeObject): KubeObject {
  const { status: _, metadata = {}, ...rest } = object;
  const kept = Object.entries(metadata).filter(([field]) => !OF_THE_SERVER.has(field));
  return { ...rest, metadata: Object.fromEntries(kept) };
}

type Side = KubeObject | undefined;

/** As kubectl does: `***`, and where the two differ which of them it is. */
function maskSecrets(before: Side, after: Side): [Side, Side] {
  const isSecret = [before, after].some((object) => object?.apiVersion === 'v1' && object.kind === 'Secret');
  return isSecret ? [masked(before, after, '*** (before)'), masked(after, before, '*** (after)')] : [before, after];
}

function masked(object: Side, other: Side, mark: string): Side {
  if (!object) return object;
  const hidden = ['data', 'stringData'].flatMap((field) => {
    const values = object[field];
    const others = other?.[field];
    if (!isJsonObject(values)) return [];
    const shown = Object.entries(values).map(([key, value]) => {
      const differs = isJsonObject(others) && key in others && others[key] !== value;
      return [key, differs ? mark : '***'] as const;
    });
    return [[field, Object.fromEntries(shown)] as const];
  });
  return { ...object, ...Object.fromEntries(hidden) };
}
