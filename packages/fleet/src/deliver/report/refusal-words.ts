import type { StatusError } from '@asterism/machinery';
import { forbiddenAdvice } from '../../join/access/explain-forbidden.ts';
import type { ManifestRef } from '../works/manifest-ref.ts';

/** Answers in which an API server may quote what it was sent. */
const QUOTING = new Set([400, 422, 500]);

/**
 * Why an API server did not take an object, in its own words; of a Secret, what may quote its content is left out: statuses are read
 * by more people than Secrets are.
 */
export function refusalWords(
  { code, message, status }: StatusError,
  { apiVersion, kind }: Pick<ManifestRef, 'apiVersion' | 'kind'>,
): string {
  if (apiVersion !== 'v1' || kind !== 'Secret' || !QUOTING.has(code)) return message;
  const fields = (status.details?.causes ?? []).flatMap(({ field }) => (field ? [field] : []));
  const where = fields.length > 0 ? ` at ${fields.join(', ')}` : '';
  return `it is not valid${where} (${code} ${status.reason ?? ''}); the words of the API server are left out: they may quote the Secret`;
}

/** As {@link refusalWords}, of an answer of a member; with the profile of `aster join --permissions` that allows it. */
export function memberRefusalWords(error: StatusError, ref: Pick<ManifestRef, 'apiVersion' | 'kind'>): string {
  const advice = forbiddenAdvice(error);
  return advice === undefined ? refusalWords(error, ref) : `${refusalWords(error, ref)}; ${advice}`;
}
