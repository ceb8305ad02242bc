import { baseObject } from './base-object.ts';
import { grownBody } from './grown-body.ts';
import { grownValue } from './grown-value.ts';
import type { GrowthCase } from './growth-cases.ts';
import type { ServedKind } from './served-kinds.ts';

/** How an object grows: it is created so, or it is created small and then changed. */
export type Way = 'create' | 'update' | 'merge patch' | 'strategic merge patch' | 'JSON patch' | 'apply';

/** A request of some way. */
export interface GrowthRequest {
  method: string;
  path: string;
  body: string;
  contentType: string;
}

const PATCH_TYPES: readonly (readonly [contentType: string, way: Way])[] = [
  ['application/merge-patch+json', 'merge patch'],
  ['application/strategic-merge-patch+json', 'strategic merge patch'],
  ['application/json-patch+json', 'JSON patch'],
  ['application/apply-patch+yaml', 'apply'],
];

/** The ways that the server serves for a kind. */
export function waysOf({ verbs, patchTypes }: ServedKind): Way[] {
  const patches = PATCH_TYPES.filter(([contentType]) => patchTypes.includes(contentType)).map(([, way]) => way);
  return ['create', ...(verbs.includes('update') ? (['update'] as const) : []), ...patches];
}

/** Creates the object as it is before it grows. */
export function smallRequest({ kind }: GrowthCase, name: string): GrowthRequest {
  return { ...CREATE, path: kind.path, body: JSON.stringify(baseObject(kind, name)) };
}

/** Makes the field grow. `present` is the object as the server has it; a creation needs none. */
export function growthRequest({ kind, field, growth, way }: GrowthCase, name: string, present?: object): GrowthRequest {
  const base = baseObject(kind, name);
  const value = grownValue(kind, field, growth);
  const path = `${kind.path}/${name}`;
  const patch = (body: string): GrowthRequest => {
    const contentType = PATCH_TYPES.find(([, each]) => each === way)?.[0] ?? '';
    return { method: 'PATCH', path, body, contentType };
  };
  switch (way) {
    case 'create':
      return { ...CREATE, path: kind.path, body: grownBody(base, field.path, value) };
    case 'update':
      return { ...CREATE, method: 'PUT', path, body: grownBody(present ?? base, field.path, value) };
    case 'apply': {
      const applied = patch(grownBody(base, field.path, value));
      return { ...applied, path: `${path}?fieldManager=grower&force=true` };
    }
    case 'JSON patch': {
      const member = topMember(present ?? base, field.path);
      const operation = { op: 'add', path: `/${field.path[0]}`, value: member[field.path[0] ?? ''] };
      return patch(`[${grownBody(operation, ['value', ...field.path.slice(1)], value)}]`);
    }
    default:
      return patch(grownBody(topMember(present ?? base, field.path), field.path, value));
  }
}

const CREATE = { method: 'POST', contentType: 'application/json' };

/** The first member of the path alone: so much of the object a patch has to say, as it replaces lists. */
function topMember(object: object, [first = '']: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([field]) => field === first));
}
