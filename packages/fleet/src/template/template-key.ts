import { type KubeObject, parseApiVersion } from '@asterism/machinery';
import { LOCAL_CLUSTER, type Request } from '@asterism/runtime';
import type { ObjectReference } from '../api/index.ts';

/** Which template, and in which version: an object of any kind in the API server that holds the templates. */
export type TemplateKey = Pick<ObjectReference, 'apiVersion' | 'kind' | 'namespace' | 'name'>;

/** The same without a version: one object is one template, however many versions of it are served. */
export interface TemplateIdentity {
  group: string;
  kind: string;
  namespace?: string;
  name: string;
}

export function templateKeyOf({ apiVersion = '', kind = '', metadata }: KubeObject): TemplateKey {
  return {
    apiVersion,
    kind,
    name: metadata?.name ?? '',
    ...(metadata?.namespace ? { namespace: metadata.namespace } : {}),
  };
}

export function identityOf({ apiVersion, kind, namespace, name }: TemplateKey): TemplateIdentity {
  return { group: parseApiVersion(apiVersion).group, kind, name, ...(namespace ? { namespace } : {}) };
}

/** The request to reconcile a template. Its name is `apps/Deployment/web`: groups, kinds and names have no slash. */
export function templateRequest(template: TemplateKey): Request {
  const { group, kind, namespace, name } = identityOf(template);
  return { cluster: LOCAL_CLUSTER, namespace, name: `${group}/${kind}/${name}` };
}

/** The inverse of {@link templateRequest}. */
export function templateOfRequest({ namespace, name: request }: Request): TemplateIdentity {
  const [group = '', kind = '', name = ''] = request.split('/');
  return { group, kind, name, ...(namespace ? { namespace } : {}) };
}

/** One text for one template, as indexes need it. */
export function formatTemplateKey(template: TemplateKey | TemplateIdentity): string {
  const { group, kind, namespace = '', name } = 'group' in template ? template : identityOf(template);
  return `${namespace}/${group}/${kind}/${name}`;
}
