import type { APIServiceCondition, KubeObject } from '@asterism/machinery';
import type { ServiceAt } from './aggregation-options.ts';

/** An APIService that names a service, as far as aggregation looks at it. */
export interface RemoteApiService {
  name: string;
  uid: string;
  group: string;
  version: string;
  groupPriority: number;
  versionPriority: number;
  service: ServiceAt;
  /** PEM, or '' for the system's authorities. */
  caBundle: string;
  insecureSkipTlsVerify: boolean;
  available: APIServiceCondition | undefined;
}

interface ApiServiceObject extends KubeObject {
  spec?: {
    group?: string;
    version?: string;
    groupPriorityMinimum?: number;
    versionPriority?: number;
    service?: { namespace?: string; name?: string; port?: number } | null;
    caBundle?: string;
    insecureSkipTLSVerify?: boolean;
  };
  status?: { conditions?: APIServiceCondition[] };
}

/** Undefined for one of the server's own. */
export function readRemoteApiService(object: KubeObject): RemoteApiService | undefined {
  const { metadata = {}, spec = {}, status }: ApiServiceObject = object;
  if (!spec.service) return undefined;
  const { namespace = '', name = '', port = 443 } = spec.service;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    group: spec.group ?? '',
    version: spec.version ?? '',
    groupPriority: spec.groupPriorityMinimum ?? 0,
    versionPriority: spec.versionPriority ?? 0,
    service: { namespace, name, port },
    caBundle: Buffer.from(spec.caBundle ?? '', 'base64').toString('utf8'),
    insecureSkipTlsVerify: spec.insecureSkipTLSVerify === true,
    available: status?.conditions?.find(({ type }) => type === 'Available'),
  };
}
