import { randomUUID } from 'node:crypto';
import type { KubeObject } from '@asterism/machinery';
import type { ObjectStore } from '../../storage/object-store.ts';
import { formatTime } from '../../registry/metadata.ts';
import { optionalFields, textAt, textsAt } from '../fields/draft-fields.ts';
import { parseIp } from '../ip/ip-address.ts';
import type { ObjectChange } from '../../contract/object-change.ts';

/** Under this name IPAddresses are stored. */
export const IP_ADDRESSES = 'ipaddresses.networking.k8s.io';
const FAMILY = 'ipaddress.kubernetes.io/ip-family';
const MANAGED_BY = 'ipaddress.kubernetes.io/managed-by';

/** The cluster addresses of a Service; a headless one has none. */
export function clusterAddresses(service: KubeObject | undefined): string[] {
  return textsAt(optionalFields(service, 'spec'), 'clusterIPs').filter((address) => address !== 'None');
}

/** Whether the IPAddress is that of the Service. */
export function isAddressOf(address: KubeObject, namespace: string, name: string): boolean {
  const parent = optionalFields(optionalFields(address, 'spec'), 'parentRef');
  return (
    textAt(parent, 'group') === '' &&
    textAt(parent, 'resource') === 'services' &&
    textAt(parent, 'namespace') === namespace &&
    textAt(parent, 'name') === name
  );
}

/** The IPAddresses that come and go with a Service, in the same transaction (KEP-1880). */
export function addressChanges(
  service: KubeObject | undefined,
  old: KubeObject | undefined,
  { store, now }: { store: ObjectStore; now: number },
): ObjectChange[] {
  const { namespace = '', name = '' } = (service ?? old)?.metadata ?? {};
  const wanted = new Set(clusterAddresses(service));
  const changes: ObjectChange[] = [];
  for (const address of new Set([...wanted, ...clusterAddresses(old)])) {
    const stored = store.get(IP_ADDRESSES, undefined, address);
    const place = { groupResource: IP_ADDRESSES, namespace: '', name: address };
    if (wanted.has(address)) {
      if (stored) continue;
      changes.push({ ...place, type: 'put', expected: 0, object: newAddress(address, { namespace, name }, now) });
    } else if (stored && isAddressOf(stored.parse(), namespace, name)) {
      changes.push({ ...place, type: 'delete', expected: stored.revision, object: stored.parse() });
    }
  }
  return changes;
}

/** The IPAddress of a Service, as it is stored. */
export function newAddress(address: string, service: { namespace: string; name: string }, now: number): KubeObject {
  const time = formatTime(now);
  const apiVersion = 'networking.k8s.io/v1';
  return {
    kind: 'IPAddress',
    apiVersion,
    metadata: {
      name: address,
      uid: randomUUID(),
      creationTimestamp: time,
      labels: { [FAMILY]: parseIp(address)?.family === 6 ? 'IPv6' : 'IPv4', [MANAGED_BY]: 'ipallocator.k8s.io' },
      managedFields: [
        {
          manager: 'kube-apiserver',
          operation: 'Update',
          apiVersion,
          time,
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:labels': { '.': {}, [`f:${FAMILY}`]: {}, [`f:${MANAGED_BY}`]: {} } },
            'f:spec': { 'f:parentRef': { '.': {}, 'f:name': {}, 'f:namespace': {}, 'f:resource': {} } },
          },
        },
      ],
    },
    spec: { parentRef: { resource: 'services', ...service } },
  };
}
