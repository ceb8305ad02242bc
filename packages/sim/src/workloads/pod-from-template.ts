import type { KubeObject, Pod, PodTemplateSpec } from '@asterism/machinery';
import { controllerReference } from './owned.ts';

/** The pod that `owner` makes of a template, under a name that the owner gives. */
export function podFromTemplate(owner: KubeObject, template: PodTemplateSpec | undefined, name: string): Pod {
  const { metadata, spec } = template ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: owner.metadata?.namespace ?? '',
      generateName: `${owner.metadata?.name}-`,
      ...(metadata?.labels ? { labels: metadata.labels } : {}),
      ...(metadata?.annotations ? { annotations: metadata.annotations } : {}),
      ...(metadata?.finalizers ? { finalizers: metadata.finalizers } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    ...(spec ? { spec } : {}),
  };
}
