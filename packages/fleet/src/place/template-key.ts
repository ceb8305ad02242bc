import type { KubeObject } from '@asterism/machinery';
import { LOCAL_CLUSTER, type Request } from '@asterism/runtime';
import type { ObjectReference } from '../api/index.ts';

/** Which template: an object of any kind in the API server that holds the templates. */
export type TemplateKey = Pick<ObjectReference, 'apiVersion' | 'kind' | 'namespace' | 'name'>;

export function templateKeyOf({ apiVersion = '', kind = '', metadata }: KubeObject): TemplateKey {
  return {
    apiVersion,
    kind,
    name: metadata?.name ?? '',
    ...(metadata?.namespace ? { namespace: metadata.namespace } : {}),
  };
}

/** The request to reconcile a template. Its name is `apps/v1/Deployment/web`: names have no slash. */
export function templateRequest({ apiVersion, kind, namespace, name }: TemplateKey): Request {
  return { cluster: LOCAL_CLUSTER, namespace, name: `${apiVersion}/${kind}/${name}` };
}

/** The inverse of {@link templateRequest}. */
export function templateOfRequest({ namespace, name }: Request): TemplateKey {
  const end = name.lastIndexOf('/');
  const middle = name.lastIndexOf('/', end - 1);
  return {
    apiVersion: name.slice(0, middle),
    kind: name.slice(middle + 1, end),
    name: name.slice(end + 1),
    ...(namespace ? { namespace } : {}),
  };
}

/** One text for one template, as indexes need it. */
export function formatTemplateKey({ apiVersion, kind, namespace = '', name }: TemplateKey): string {
  return `${namespace}/${apiVersion}/${kind}/${name}`;
}
