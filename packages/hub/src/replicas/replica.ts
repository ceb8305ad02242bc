import { randomUUID } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { createCertificateAuthority, issueCertificate, type KeyPair } from '@asterism/apiserver';
import { HUB_REPLICA_LABEL, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import type { Lease } from '@asterism/machinery';
import type { AggregationTarget } from '../aggregated-objects.ts';

/** A hub process, as others on the same kube-apiserver know it. */
export interface Replica {
  /** Another for each run of a process. */
  id: string;
  /** Where it takes the links of the others. */
  host: string;
  port: number;
  /** Its own authority, which has signed its one certificate and signs no other; PEM. */
  ca: string;
  /** Where it takes the calls of people and agents, and by which authority it proves itself to them; unknown before it serves. */
  serving?: AggregationTarget | undefined;
}

/** This process, with the key that proves it. The key lives as long as the process, and is nowhere else. */
export interface OwnReplica extends Replica {
  keys: KeyPair;
}

/** For how long after it was last seen renewed a Lease says that its process lives. */
export const REPLICA_LEASE_SECONDS = 15;

const SERVING_ANNOTATION = `${HUB_REPLICA_LABEL}-serving`;
const ADDRESS_ANNOTATION = `${HUB_REPLICA_LABEL}-address`;
const SERVING_CA_ANNOTATION = `${SERVING_ANNOTATION}-ca`;
const CA_ANNOTATION = `${HUB_REPLICA_LABEL}-ca`;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const CERTIFICATE_DAYS = 3_650;

/** An identity for this process, at the address by which others reach it. */
export async function createReplica(address: { host: string; port: number }): Promise<OwnReplica> {
  const id = randomUUID();
  const authority = await createCertificateAuthority({ commonName: `asterism-hub replica ${id}` });
  const name = replicaServerName(id);
  const keys = await issueCertificate(authority, {
    commonName: id,
    dnsNames: [name],
    usages: ['server', 'client'],
    days: CERTIFICATE_DAYS,
  });
  return { id, ...address, ca: authority.cert, keys };
}

/** The name in a replica's certificate. */
export function replicaServerName(id: string): string {
  return `${id}.hub-replica.asterism.dev`;
}

export function replicaLeaseName(id: string): string {
  return `asterism-hub-replica-${id}`;
}

/** The Lease by which a replica says that it is there, how it is reached, and whom to trust as it. */
export function replicaLease({ id, host, port, ca, serving }: Replica, now: number): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      namespace: SYSTEM_NAMESPACE,
      name: replicaLeaseName(id),
      labels: { [HUB_REPLICA_LABEL]: id },
      annotations: {
        [ADDRESS_ANNOTATION]: formatAddress(host, port),
        [CA_ANNOTATION]: ca,
        ...(serving && {
          [SERVING_ANNOTATION]: formatAddress(serving.host, serving.port),
          [SERVING_CA_ANNOTATION]: serving.ca,
        }),
      },
    },
    spec: {
      holderIdentity: id,
      leaseDurationSeconds: REPLICA_LEASE_SECONDS,
      renewTime: `${new Date(now).toISOString().slice(0, -1)}000Z`,
    },
  };
}

/** The inverse of {@link replicaLease}; undefined where the Lease is not a replica's, or says not enough to reach it. */
export function replicaOf({ metadata, spec }: Lease): Replica | undefined {
  const id = spec?.holderIdentity ?? '';
  const said = metadata?.annotations ?? {};
  const address = parseAddress(said[ADDRESS_ANNOTATION], said[CA_ANNOTATION]);
  if (!ID.test(id) || metadata?.name !== replicaLeaseName(id) || !address) return undefined;
  const serving = parseAddress(said[SERVING_ANNOTATION], said[SERVING_CA_ANNOTATION]);
  return { id, ...address, ...(serving && { serving }) };
}

function formatAddress(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

function parseAddress(text: string | undefined, ca: string | undefined): AggregationTarget | undefined {
  const url = URL.parse(`https://${text}`);
  // 443 is what a URL leaves out.
  const port = Number(url?.port || 443);
  if (text === undefined || !ca || !url) return undefined;
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port, ca };
}
