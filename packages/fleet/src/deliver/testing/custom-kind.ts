import { untilObject } from '@asterism/apiserver/testing';
import type { Client } from '@asterism/client';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  type CustomResourceDefinition,
  isConditionTrue,
  type ResourceType,
} from '@asterism/machinery';

/** A kind that no API server knows but by its definition. */
export const WIDGETS: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

type Version = CustomResourceDefinition['spec']['versions'][number];

const ANY_CONTENT = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

/** The definition of a kind, of any content where `version` has no schema. */
export function definitionOf(type: ResourceType, version: Partial<Version> = {}): CustomResourceDefinition {
  const { group, version: name, resource: plural, kind, namespaced } = type;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
      versions: [{ name, served: true, storage: true, schema: ANY_CONTENT, ...version }],
    },
  };
}

/** Creates a definition, and resolves when its kind is served. */
export async function establish(client: Client, definition: CustomResourceDefinition): Promise<void> {
  const { metadata } = await client.resource(CUSTOM_RESOURCE_DEFINITIONS).create(definition);
  await untilObject(client, CUSTOM_RESOURCE_DEFINITIONS, { name: metadata?.name ?? '' }, (it) =>
    isConditionTrue(it?.status?.conditions, 'Established'),
  );
}
