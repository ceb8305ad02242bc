import { createHash } from 'node:crypto';
import { type Lease, type ObjectMeta, validateDns1123Label } from '@asterism/machinery';

/** By this label the Leases of one installation are watched; its value is the installation's name. */
export const SHARDING_LABEL = 'asterism.dev/sharding';
/** What a Lease is for: a process (`peer`) or a cluster (`fence`). */
export const ROLE_LABEL = 'asterism.dev/sharding-role';
/** Of a fence: its cluster, for people. */
export const CLUSTER_ANNOTATION = 'asterism.dev/cluster';
/** Of a fence: who asks its holder for it. */
export const WANTED_ANNOTATION = 'asterism.dev/wanted-by';

const MAX_NAME = 40;

/** @throws TypeError for a name that cannot begin those of Leases. */
export function checkShardingName(name: string): void {
  if (name.length > MAX_NAME || validateDns1123Label(name).length > 0) {
    throw new TypeError(`sharding needs a name that is a DNS label of at most ${MAX_NAME} characters, not "${name}"`);
  }
}

/** Identities and clusters may be called what no Lease may. */
export function peerLeaseName(name: string, identity: string): string {
  return `${name}-peer-${digest(identity)}`;
}

export function fenceName(name: string, cluster: string): string {
  return `${name}-fence-${digest(cluster)}`;
}

export function peerMetadata(name: string): (live: ObjectMeta | undefined) => ObjectMeta {
  return (live) => ({ ...live, labels: { ...live?.labels, [SHARDING_LABEL]: name, [ROLE_LABEL]: 'peer' } });
}

/** What a fence bears when it is taken: nobody asks for it any more. */
export function fenceMetadata(name: string, cluster: string): (live: ObjectMeta | undefined) => ObjectMeta {
  return (live) => {
    const { [WANTED_ANNOTATION]: _, ...annotations } = live?.annotations ?? {};
    return {
      ...live,
      labels: { ...live?.labels, [SHARDING_LABEL]: name, [ROLE_LABEL]: 'fence' },
      annotations: { ...annotations, [CLUSTER_ANNOTATION]: cluster },
    };
  };
}

export function isPeerLease({ metadata }: Lease): boolean {
  return metadata?.labels?.[ROLE_LABEL] === 'peer';
}

export function wantedBy({ metadata }: Lease): string | undefined {
  return metadata?.annotations?.[WANTED_ANNOTATION];
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 20);
}
