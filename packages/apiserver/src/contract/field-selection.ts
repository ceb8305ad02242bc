import { badRequest, type FieldRequirement, formatFieldSelector, parseFieldSelector } from '@asterism/machinery';

const NAME = 'metadata.name';

/**
 * The field selector of a list, a watch or a deletecollection: of the query, and of a name in the path, which Kubernetes reads as
 * `metadata.name=NAME`. Authorization and the handler use this one value, so a handler reads no more than was authorized.
 */
export interface FieldSelection {
  /** To be compiled by the registry; '' selects everything. */
  readonly text: string;
  /** Empty if the text cannot be parsed. The registry refuses such a text later. */
  readonly requirements: readonly FieldRequirement[];
  /** The name of the only object that can match; '' if more than one can. */
  readonly name: string;
  /** The query contradicts the name in the path. */
  readonly isContradictory: boolean;
}

export const SELECTS_ALL: FieldSelection = { text: '', requirements: [], name: '', isContradictory: false };

/** @param pathName the name in the path of a watch; '' if there is none. */
export function readFieldSelection(text: string, pathName: string): FieldSelection {
  if (pathName === '') {
    if (text === '') return SELECTS_ALL;
    const requirements = parseOrNothing(text);
    return { text, requirements, name: nameIn(requirements), isContradictory: false };
  }
  const own: FieldRequirement = { path: NAME, operator: '=', value: pathName };
  const named = formatFieldSelector([own]);
  if (text === '') return { text: named, requirements: [own], name: pathName, isContradictory: false };
  const requirements = parseOrNothing(text);
  const isContradictory = exactName(requirements) !== pathName;
  return { text: `${text},${named}`, requirements: [...requirements, own], name: pathName, isContradictory };
}

/** Throws 400, in upstream's words, where the selector of a query asks for anything but the name in the path. */
export function checkSelection({ text, isContradictory }: FieldSelection): void {
  if (!isContradictory) return;
  // A selector that cannot be parsed has its own refusal.
  parseFieldSelector(text);
  throw badRequest("fieldSelector metadata.name doesn't match requested name");
}

/** Upstream ignores a name that no object can have, and takes the first of several. */
function nameIn(requirements: readonly FieldRequirement[]): string {
  const name = exactName(requirements) ?? '';
  return name === '.' || name === '..' || name.includes('/') || name.includes('%') ? '' : name;
}

function exactName(requirements: readonly FieldRequirement[]): string | undefined {
  return requirements.find(({ path, operator }) => path === NAME && operator === '=')?.value;
}

function parseOrNothing(text: string): readonly FieldRequirement[] {
  try {
    return parseFieldSelector(text);
  } catch {
    return [];
  }
}
