import { isJsonObject, jsonKindOf, jsonSyntaxFault, parseJson, type Toleration } from '@asterism/machinery';

/** The fields of upstream's struct, by their names in small letters, and what messages call their types. */
const FIELDS: Readonly<Record<string, { name: string; type: string }>> = {
  key: { name: 'Key', type: 'string' },
  operator: { name: 'Operator', type: 'core.TolerationOperator' },
  value: { name: 'Value', type: 'string' },
  effect: { name: 'Effect', type: 'core.TaintEffect' },
  tolerationseconds: { name: 'TolerationSeconds', type: 'int64' },
};

/** The tolerations that a text is the JSON of; why it is not, in the words of Go's decoder, where it is not. */
export function readTolerations(text: string): Toleration[] | string {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return jsonSyntaxFault(text);
  }
  if (value === null) return [];
  if (!Array.isArray(value)) return misfit(value, 'Go value of type []core.Toleration');
  const tolerations: Toleration[] = [];
  for (const item of value as unknown[]) {
    const toleration = tolerationOf(item);
    if (typeof toleration === 'string') return toleration;
    tolerations.push(toleration);
  }
  return tolerations;
}

function tolerationOf(item: unknown): Toleration | string {
  if (item === null) return {};
  if (!isJsonObject(item)) return misfit(item, 'Go value of type core.Toleration');
  const toleration: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(item)) {
    const field = FIELDS[key.toLowerCase()];
    if (!field || value === null) continue;
    const { name, type } = field;
    const fits = type === 'int64' ? Number.isInteger(value) : typeof value === 'string';
    if (!fits) return misfit(value, `Go struct field Toleration.${name} of type ${type}`);
    toleration[name.charAt(0).toLowerCase() + name.slice(1)] = value;
  }
  return toleration as Toleration;
}

function misfit(value: unknown, where: string): string {
  return `json: cannot unmarshal ${jsonKindOf(value)} into ${where}`;
}
