import { badRequest } from '@asterism/machinery';

/** What `[SCHEME:]NAME[:PORT]` stands for, as proxy paths name their target. */
export interface SplitName {
  scheme: 'http' | 'https' | '';
  name: string;
  /** A number or a name, or ''. */
  port: string;
}

/** Throws 400 where it is no such name. */
export function splitName(kind: string, text: string): SplitName {
  const parts = text.split(':');
  const [scheme, name, port] = parts.length === 3 ? parts : ['', parts[0], parts[1] ?? ''];
  const known = scheme === '' || scheme === 'http' || scheme === 'https';
  if (parts.length > 3 || !known || !name) throw badRequest(`invalid ${kind} request ${JSON.stringify(text)}`);
  return { scheme, name, port: port ?? '' };
}
