import type { ConnectHandler } from '../http/extension/api-extension.ts';
import type { Registry } from '../registry/registry.ts';
import type { KubeletClientOptions, PodNetwork } from './kubelet-client-options.ts';

export interface NodeConnectsOptions {
  registry: Registry;
  kubelet: KubeletClientOptions | undefined;
  podNetwork: PodNetwork | undefined;
}

const OF_KUBELETS = ['pods/log', 'pods/exec', 'pods/attach', 'pods/portforward', 'nodes/proxy'];
const OF_PODS = ['pods/proxy', 'services/proxy'];

/**
 * The connections that leave the server for nodes and pods, apart from those that `given` handlers take. What carries them is
 * loaded with the first one.
 */
export function nodeConnects(options: NodeConnectsOptions, given: readonly ConnectHandler[]): ConnectHandler[] {
  const taken = new Set(given.map(({ group, resource, subresource }) => `${group}/${resource}/${subresource}`));
  const paths = [...(options.kubelet ? OF_KUBELETS : []), ...(options.podNetwork ? OF_PODS : [])];
  return paths
    .filter((path) => !taken.has(`/${path}`))
    .map((path) => {
      const [resource = '', subresource = ''] = path.split('/');
      const target = async () => (await import('./relay-to-node.ts')).targetOf(path, options);
      return {
        group: '',
        resource,
        subresource,
        handle: async (context) => await (await target()).handle(context),
        upgrade: async (context, socket, head) => await (await target()).upgrade(context, { socket, head }),
      };
    });
}
