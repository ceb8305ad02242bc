import { type KubeObject, parseJson } from '@asterism/machinery';
import { AUTHOR_ANNOTATION } from '../../api/index.ts';
import type { Subject } from './subject.ts';

/** The longest identity that is recorded: what an HTTP request or a certificate carries is far shorter. */
export const MAX_AUTHOR_BYTES = 65_536;

/** The value of the annotation that records an author; undefined if the identity is too long to record. */
export function formatAuthor({ username, uid, groups, extra }: Subject): string | undefined {
  const text = JSON.stringify({
    username: username ?? '',
    ...(uid ? { uid } : {}),
    groups,
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
  });
  return Buffer.byteLength(text) > MAX_AUTHOR_BYTES ? undefined : text;
}

/** The policy as it would be if this user had written it. */
export function withAuthor<P extends Pick<KubeObject, 'metadata'>>(policy: P, author: Subject | undefined): P {
  const { [AUTHOR_ANNOTATION]: _, ...others } = policy.metadata?.annotations ?? {};
  const record = author && formatAuthor(author);
  const annotations = { ...others, ...(record === undefined ? {} : { [AUTHOR_ANNOTATION]: record }) };
  return { ...policy, metadata: { ...policy.metadata, annotations } };
}

/** The recorded author of a policy; undefined if none is recorded, or if the record cannot be read. */
export function readAuthor({ metadata }: Pick<KubeObject, 'metadata'>): Subject | undefined {
  const text = metadata?.annotations?.[AUTHOR_ANNOTATION];
  if (text === undefined || text.length > MAX_AUTHOR_BYTES) return undefined;
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { username, uid, groups, extra } = value as Record<string, unknown>;
  if (typeof username !== 'string' || username === '' || !isTexts(groups)) return undefined;
  if (uid !== undefined && typeof uid !== 'string') return undefined;
  if (extra !== undefined && !isExtra(extra)) return undefined;
  return { username, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isExtra(value: unknown): value is Record<string, string[]> {
  return typeof value === 'object' && value !== null && Object.values(value).every(isTexts);
}
