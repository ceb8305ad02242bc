import type { StatusCause } from '../object.ts';
import { StatusError } from '../status.ts';
import { quoteGo } from '../schema/go-format.ts';
import { type FieldSet, pathsOf } from './field-set.ts';
import type { FieldOwner } from './field-owners.ts';
import { formatPath } from './path-element.ts';

/** The fields of another manager that an apply would change. */
export interface FieldConflict {
  owner: FieldOwner;
  fields: FieldSet;
}

/** So many fields are named: the answer to an apply of thousands is not longer than the apply. */
const MOST_NAMED = 1_000;

/** 409 that names each field with who owns it; clients read the causes, people the message. */
export function applyConflict(conflicts: readonly FieldConflict[]): StatusError {
  let count = 0;
  const found = conflicts.map(({ owner, fields }) => {
    const paths: string[] = [];
    for (const path of pathsOf(fields)) if (++count <= MOST_NAMED) paths.push(formatPath(path));
    return { owner: describeOwner(owner), paths };
  });
  const causes: StatusCause[] = found.flatMap(({ owner, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner}`, field })),
  );
  const first = found[0];
  const message =
    count === 1
      ? `Apply failed with 1 conflict: conflict with ${first?.owner}: ${first?.paths[0]}`
      : `Apply failed with ${count} conflicts: ${found.map(listPaths).join('\n')}`;
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'Conflict',
    details: { causes },
    code: 409,
  });
}

function listPaths({ owner, paths }: { owner: string; paths: readonly string[] }): string {
  return [`conflicts with ${owner}:`, ...paths.map((path) => `- ${path}`)].join('\n');
}

/** `"kubectl" with subresource "scale" using apps/v1`: of an applier the version does not matter. */
function describeOwner({ manager, operation, apiVersion, subresource }: FieldOwner): string {
  const name = subresource === '' ? quoteGo(manager) : `${quoteGo(manager)} with subresource ${quoteGo(subresource)}`;
  return operation === 'Update' ? `${name} using ${apiVersion}` : name;
}
