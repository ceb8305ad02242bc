import { FILLERS } from './fillers.ts';
import { type GrownField, grownFields } from './grown-fields.ts';
import type { Growth } from './grown-value.ts';
import type { Way } from './growth-ways.ts';
import type { ServedKind } from './served-kinds.ts';

/** One field of one kind, and how it grows. */
export interface GrowthCase {
  kind: ServedKind;
  field: GrownField;
  /** What it is filled with. */
  name: string;
  growth: Growth;
  way: Way;
}

/** Everything that a field can be filled with. */
export function growthsOf(kind: ServedKind, field: GrownField): GrowthCase[] {
  const texts = Object.entries(FILLERS);
  const as = (name: string, growth: Growth): GrowthCase => ({ kind, field, name, growth, way: 'create' });
  switch (field.type) {
    case 'text':
      return texts.map(([name, filler]) => as(name, { filler }));
    case 'list':
      return [as('items that are alike', { spread: 'same' }), as('items that differ', { spread: 'different' })];
    case 'map':
      return [
        as('keys', { spread: 'different' }),
        ...texts.map(([name, filler]) => as(`a key of ${name}`, { filler })),
        ...texts.map(([name, filler]) => as(`a value of ${name}`, { filler, inValue: true })),
      ];
    default:
      return [as('more of the same', {})];
  }
}

/** Every field of a kind, without those for which `isKnown` says that another kind has the same. */
export function casesOf(kind: ServedKind, isKnown: (sharedName: string) => boolean): GrowthCase[][] {
  return grownFields(kind)
    .filter(({ sharedName }) => !isKnown(sharedName))
    .map((field) => growthsOf(kind, field));
}

/** The case of a field by its dotted path and by what it is filled with. */
export function namedCase(kinds: readonly ServedKind[], kind: string, path: string, name: string): GrowthCase {
  const found = kinds
    .filter((each) => each.kind === kind)
    .flatMap((each) =>
      grownFields(each)
        .filter((field) => field.path.join('.') === path)
        .flatMap((field) => growthsOf(each, field)),
    )
    .find((each) => each.name === name);
  if (!found) throw new Error(`${kind} has no ${path} that can be filled with ${name}`);
  return found;
}

export function formatCase({ kind, field, name, way }: GrowthCase): string {
  return `${kind.apiVersion} ${kind.kind} ${field.path.join('.')}: ${name}, by ${way}`;
}
