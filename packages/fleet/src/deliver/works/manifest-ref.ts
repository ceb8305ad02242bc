import type { KubeObject } from '@asterism/machinery';
import type { ManifestStatus } from '../../api/index.ts';

/** Which object of a member. */
export type ManifestRef = Pick<ManifestStatus, 'apiVersion' | 'kind' | 'namespace' | 'name'>;

export function manifestRefOf({ apiVersion = '', kind = '', metadata }: KubeObject): ManifestRef {
  const { namespace, name = '' } = metadata ?? {};
  return { apiVersion, kind, ...(namespace ? { namespace } : {}), name };
}

/** The same object whatever version it is spoken of in. */
export function sameManifest(a: ManifestRef, b: ManifestRef): boolean {
  return formatManifestRef(a) === formatManifestRef(b);
}

/** `Deployment.apps demo/web`, as messages name an object. */
export function formatManifestRef({ apiVersion, kind, namespace, name }: ManifestRef): string {
  const slash = apiVersion.indexOf('/');
  const what = slash < 0 ? kind : `${kind}.${apiVersion.slice(0, slash)}`;
  return namespace ? `${what} ${namespace}/${name}` : `${what} ${name}`;
}
