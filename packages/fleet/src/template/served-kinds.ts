import { CUSTOM_RESOURCE_DEFINITIONS, type CustomResourceDefinition, deepEqual } from '@asterism/machinery';
import type { Cluster } from '@asterism/runtime';
import type { KindInformers } from './kind-informers.ts';

/** What tells which kinds a definition serves; schemas are the bulk of it. One function, so that the informer is shared. */
function outline(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { versions, ...spec } = definition.spec;
  const served = versions.map(({ name, served: isServed, storage }) => ({ name, served: isServed, storage }));
  return { ...definition, spec: { ...spec, versions: served } };
}

/** Looks at the kinds again whenever a definition of one of them comes, goes or begins to be served. */
export function followServedKinds(cluster: Cluster, informers: KindInformers, signal: AbortSignal): void {
  const definitions = cluster.cache.informer(CUSTOM_RESOURCE_DEFINITIONS, { transform: outline });
  const changed = ({ spec }: CustomResourceDefinition): void => {
    const concerned = informers
      .kinds()
      .some(({ apiVersion, kind }) => apiVersion.startsWith(`${spec.group}/`) && kind === spec.names.kind);
    if (concerned) informers.recheck();
  };
  definitions.addHandler({
    onAdd: (definition, initial) => (initial ? undefined : changed(definition)),
    onUpdate: (before, after) => {
      if (!deepEqual([before.spec, before.status], [after.spec, after.status])) changed(after);
    },
    onDelete: changed,
  });
  signal.addEventListener('abort', () => definitions.release(), { once: true });
}
