import type { KubeObject } from '@asterism/machinery';
import { podReferences } from '../authorization/node-references.ts';
import { type Fields, listAt, optionalFields, textAt } from '../kinds/fields/draft-fields.ts';

const CONTAINERS: readonly (readonly [list: string, what: string])[] = [
  ['initContainers', 'init container'],
  ['containers', 'container'],
];

/** Whether a pod refers to any Secret. */
export function referencesSecrets(spec: Fields): boolean {
  const metadata = { name: 'pod', namespace: 'of-it' };
  for (const key of podReferences({ metadata, spec })) if (key.startsWith('secrets/')) return true;
  return false;
}

/** Why a pod may not use a Secret: its account is bound to those that it lists. Undefined where it uses no other. */
export function forbiddenSecretOf(
  spec: Fields,
  account: KubeObject,
  which: 'all' | 'ephemeral containers',
): string | undefined {
  const mountable = new Set(listAt(account, 'secrets').map((secret) => textAt(secret, 'name')));
  const name = account.metadata?.name ?? '';
  const why = (what: string, secret: string): string | undefined =>
    mountable.has(secret)
      ? undefined
      : `${what} secret.secretName="${secret}" is not allowed because service account ${name} does not reference that secret`;
  if (which === 'ephemeral containers') return ofContainers(spec, 'ephemeralContainers', 'ephemeral container', why);
  for (const volume of listAt(spec, 'volumes')) {
    const secret = optionalFields(volume, 'secret');
    const refused = secret && why('volume with', textAt(secret, 'secretName'));
    if (refused !== undefined) return refused;
  }
  for (const [list, what] of CONTAINERS) {
    const refused = ofContainers(spec, list, what, why);
    if (refused !== undefined) return refused;
  }
  const pulled = new Set(listAt(account, 'imagePullSecrets').map((secret) => textAt(secret, 'name')));
  const names = listAt(spec, 'imagePullSecrets').map((secret) => textAt(secret, 'name'));
  const index = names.findIndex((secret) => !pulled.has(secret));
  return index < 0
    ? undefined
    : `imagePullSecrets[${index}].name="${names[index]}" is not allowed because service account ${name} does not reference that imagePullSecret`;
}

function ofContainers(
  spec: Fields,
  list: string,
  what: string,
  why: (what: string, secret: string) => string | undefined,
): string | undefined {
  for (const container of listAt(spec, list)) {
    const who = `${what} ${textAt(container, 'name')} with`;
    for (const variable of listAt(container, 'env')) {
      const secret = optionalFields(optionalFields(variable, 'valueFrom'), 'secretKeyRef');
      const refused = secret && why(`${who} envVar ${textAt(variable, 'name')} referencing`, textAt(secret, 'name'));
      if (refused !== undefined) return refused;
    }
    for (const source of listAt(container, 'envFrom')) {
      const secret = optionalFields(source, 'secretRef');
      const refused = secret && why(`${who} envFrom referencing`, textAt(secret, 'name'));
      if (refused !== undefined) return refused;
    }
  }
  return undefined;
}
