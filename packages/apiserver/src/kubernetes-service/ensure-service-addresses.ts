import { IP_ADDRESSES, isAlreadyExists, isStatusError, type KubeObject, SERVICES } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import { clusterAddresses, newAddress } from '../kinds/service/service-addresses.ts';

/** Creates the IPAddresses of Services that were stored before addresses came and went with them. */
export async function ensureServiceAddresses(registry: Registry, user: UserInfo, now: number): Promise<void> {
  const addresses = requireResource(registry, IP_ADDRESSES);
  const options = { skipDamaged: true };
  const { items } = await registry.list(requireResource(registry, SERVICES), options);
  const services = items.map((item) => item.parse());
  const known = new Set((await registry.list(addresses, options)).items.map((item) => item.parse().metadata?.name));
  const missing = services.flatMap((service) =>
    clusterAddresses(service)
      .filter((address) => !known.has(address))
      .map((address): KubeObject => {
        const { namespace = '', name = '' } = service.metadata ?? {};
        return newAddress(address, { namespace, name }, now);
      }),
  );
  await Promise.all(
    missing.map(async (address) => {
      try {
        await registry.create(addresses, address, { user, fieldManager: 'kube-apiserver' });
      } catch (error) {
        if (!isAlreadyExists(error) && !isStatusError(error, 'StorageReadError')) throw error;
      }
    }),
  );
}
