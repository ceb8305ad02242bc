import { NODES } from '@asterism/machinery';
import { createController, type Manager } from '@asterism/runtime';
import { rightTaints } from './node-taints.ts';

/** Keeps pods away from nodes that are not ready, as kube-controller-manager's node life cycle does. */
export function addNodeLifecycle(manager: Manager): void {
  manager.add(
    createController({
      name: 'node-lifecycle',
      async reconcile({ name }, { cluster }) {
        const node = cluster.cache.get(NODES, { name });
        const taints = node && rightTaints(node);
        if (taints === undefined) return;
        const body = { metadata: { resourceVersion: node?.metadata?.resourceVersion }, spec: { taints } };
        await cluster.client.resource(NODES).patch({ name }, { type: 'merge', body });
      },
    }).for(NODES),
  );
}
