import type { GroupVersion } from '@asterism/machinery';

/** What an operation does and to what, as far as its name tells. */
export interface NamedOperation {
  action: string;
  /** The kind in the URL, whatever the body is. */
  kind: string;
  namespaced: boolean;
  /** Of all namespaces together. */
  everywhere?: boolean | undefined;
  subresource?: string | undefined;
  /** Of a connection, which one name has for each. */
  method?: string | undefined;
}

const WORDS: Readonly<Record<string, string>> = {
  get: 'read',
  post: 'create',
  put: 'replace',
  deletecollection: 'delete',
};

/** `patchCoreV1NamespacedPodStatus`, as upstream names operations: generators of clients name their functions so. */
export function operationId(at: GroupVersion, operation: NamedOperation): string {
  const { action, kind, namespaced, everywhere, method = '', subresource = '' } = operation;
  return [
    WORDS[action] ?? action,
    capitalized(groupWord(at.group)),
    capitalized(at.version),
    capitalized(method),
    action === 'deletecollection' ? 'Collection' : '',
    namespaced && everywhere !== true ? 'Namespaced' : '',
    kind,
    capitalized(subresource),
    everywhere === true ? 'ForAllNamespaces' : '',
  ].join('');
}

/** `rbacAuthorization_v1`: what the operations of a group-version are sorted under. */
export function operationTag({ group, version }: GroupVersion): string {
  return `${groupWord(group)}_${version}`;
}

function groupWord(group: string): string {
  const [first = '', ...rest] = group.replace(/\.k8s\.io$/, '').split('.');
  return first === '' ? 'core' : first + rest.map(capitalized).join('');
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
