import { createHash } from 'node:crypto';

/** Kubernetes leaves vowels and their look-alikes out of generated names, so that none becomes a word. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/**
 * `length` characters that look like a generated suffix and depend on `seed` alone. A controller that names what it makes
 * by them makes nothing twice: a second try, after a crash or from an old cache, is answered AlreadyExists.
 */
export function stableSuffix(seed: string, length: number): string {
  const digest = createHash('sha256').update(seed).digest();
  let suffix = '';
  for (let index = 0; index < length; index += 1) suffix += ALPHABET[(digest[index] ?? 0) % ALPHABET.length];
  return suffix;
}
