import { isJsonObject, type KubeObject, parseJson, type Status } from '@asterism/machinery';
import { readObject } from '../http/body/decode-body.ts';
import { parseYaml } from '../http/body/parse-yaml.ts';
import type { RequestInfo } from '../contract/request-info.ts';

/** A body of a request or an answer, and how it is written. */
export interface AuditedBody {
  bytes: Uint8Array;
  contentType: string | undefined;
}

/** The object or patch of a request as it came, in JSON; undefined where it cannot be read, which its answer tells. */
export async function readRequestBody({ bytes, contentType }: AuditedBody): Promise<unknown> {
  if (bytes.byteLength === 0) return undefined;
  try {
    if (contentType?.startsWith('application/apply-patch')) return (await parseYaml(textOf(bytes))).value;
    if (contentType?.includes('-patch+json')) return parseJson(textOf(bytes));
    return await readObject(bytes, contentType);
  } catch {
    return undefined;
  }
}

/** The object of an answer; undefined where it is none (a log, a text). */
export async function readResponseBody({ bytes, contentType }: AuditedBody): Promise<KubeObject | undefined> {
  if (contentType === undefined || bytes.byteLength === 0) return undefined;
  try {
    return await readObject(bytes, contentType);
  } catch {
    return undefined;
  }
}

export function isStatus(object: KubeObject | undefined): object is KubeObject & Status {
  return object?.kind === 'Status' && object.apiVersion === 'v1';
}

/**
 * The same object without what would let a reader of the log act as somebody else: the token of a TokenReview and the one that a
 * TokenRequest gives. Upstream leaves that to the policy.
 */
export function withoutTokens(object: unknown, { group, resource, subresource }: RequestInfo): unknown {
  if (!isJsonObject(object)) return object;
  const { kind } = object;
  const isReview = kind === 'TokenReview' || (group === 'authentication.k8s.io' && resource === 'tokenreviews');
  if (isReview) return withoutToken(object, 'spec');
  const isRequest = kind === 'TokenRequest' || (resource === 'serviceaccounts' && subresource === 'token');
  return isRequest ? withoutToken(object, 'status') : object;
}

function withoutToken(object: Record<string, unknown>, part: 'spec' | 'status'): unknown {
  const { [part]: value } = object;
  if (!isJsonObject(value) || !Object.hasOwn(value, 'token')) return object;
  const { token: _, ...rest } = value;
  return { ...object, [part]: rest };
}

/** The same object, list or Table without `metadata.managedFields`. */
export function withoutManagedFields(object: unknown): unknown {
  if (!isJsonObject(object)) return object;
  const bare = withoutOwnManagedFields(object);
  if (Array.isArray(bare.items)) return { ...bare, items: bare.items.map(withoutOwnManagedFieldsOf) };
  if (!Array.isArray(bare.rows) || bare.kind !== 'Table') return bare;
  const rows = bare.rows.map((row: unknown) =>
    isJsonObject(row) && isJsonObject(row.object) ? { ...row, object: withoutOwnManagedFields(row.object) } : row,
  );
  return { ...bare, rows };
}

function withoutOwnManagedFieldsOf(value: unknown): unknown {
  return isJsonObject(value) ? withoutOwnManagedFields(value) : value;
}

function withoutOwnManagedFields(object: Record<string, unknown>): Record<string, unknown> {
  if (!isJsonObject(object.metadata) || !Object.hasOwn(object.metadata, 'managedFields')) return object;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
}
