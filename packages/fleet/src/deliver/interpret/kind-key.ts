import type { KubeObject } from '@asterism/machinery';

/** `Deployment.apps`, `Pod`: a kind whatever its version, as tables of knowledge about kinds are keyed. */
export function kindKey({ apiVersion = '', kind = '' }: Pick<KubeObject, 'apiVersion' | 'kind'>): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? kind : `${kind}.${apiVersion.slice(0, slash)}`;
}
