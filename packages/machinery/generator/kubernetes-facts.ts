import { readFileSync } from 'node:fs';

export interface Schema {
  $ref?: string;
  allOf?: Schema[];
  type?: string;
  enum?: string[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
  required?: string[];
  'x-kubernetes-group-version-kind'?: { group: string; version: string; kind: string }[];
}

interface ResponseKind {
  group: string;
  version: string;
  kind: string;
}

export interface DiscoveredResource {
  resource: string;
  singularResource: string;
  responseKind: ResponseKind;
  scope: 'Namespaced' | 'Cluster';
  verbs: string[];
  shortNames?: string[];
  categories?: string[];
  subresources?: { subresource: string; responseKind: ResponseKind; verbs: string[] }[];
}

interface DiscoveredGroup {
  metadata: { name?: string };
  versions: { version: string; resources: DiscoveredResource[] }[];
}

/** The generator's input, read off a real API server: aggregated discovery v2 and the OpenAPI v3 component schemas. */
export interface KubernetesFacts {
  version: string;
  schemas: Record<string, Schema>;
  discovery: { api: DiscoveredGroup[]; apis: DiscoveredGroup[] };
}

export function readKubernetesFacts(): KubernetesFacts {
  const file = new URL('../data/kubernetes-1.36.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as KubernetesFacts;
}

export interface ServedResource extends DiscoveredResource {
  group: string;
  version: string;
}

/** Every resource with its group and version, in the order of discovery, which is the order of preference. */
export function servedResources({ discovery }: KubernetesFacts): ServedResource[] {
  return [...discovery.api, ...discovery.apis].flatMap(({ metadata, versions }) =>
    versions.flatMap(({ version, resources }) =>
      resources.map((resource) => ({ ...resource, group: metadata.name ?? '', version })),
    ),
  );
}
