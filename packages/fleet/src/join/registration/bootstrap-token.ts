import { wallNow } from '@asterism/client';
import { randomInt } from 'node:crypto';
import type { Client } from '@asterism/client';
import { formatTime, type Secret, SECRETS } from '@asterism/machinery';
import { AUTO_APPROVE_GROUP, CLUSTER_TOKEN_GROUP_PREFIX, REGISTER_GROUP } from '../../api/index.ts';
import { formatFacts, type PlacementFacts, placementFactsFault, tokenFactsGroups } from './placement-facts.ts';

export interface BootstrapTokenOptions {
  /** Milliseconds. Default one hour. */
  ttl?: number | undefined;
  /** Whoever holds the token is let in without a person's approval. Default false. */
  autoApprove?: boolean | undefined;
  /** The token joins a cluster of this name alone. */
  cluster?: string | undefined;
  /** Labels, provider, region and zones of the Cluster that joins with it. */
  facts?: PlacementFacts | undefined;
}

export interface BootstrapToken {
  /** `id.secret`: show it once, never log it. */
  token: string;
  id: string;
  /** RFC 3339. */
  expires: string;
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const HOUR_MS = 60 * 60 * 1000;

/** The Secret in which Kubernetes keeps a bootstrap token (`bootstrap.kubernetes.io/token`). */
export function bootstrapTokenSecret(
  { token, id, expires }: BootstrapToken,
  { autoApprove = false, cluster, facts = {} }: BootstrapTokenOptions,
): Secret {
  const groups = [
    REGISTER_GROUP,
    ...(autoApprove ? [AUTO_APPROVE_GROUP] : []),
    ...(cluster === undefined ? [] : [CLUSTER_TOKEN_GROUP_PREFIX + cluster]),
    ...tokenFactsGroups(facts),
  ];
  const told = formatFacts(facts);
  const content = {
    'token-id': id,
    'token-secret': token.slice(id.length + 1),
    expiration: expires,
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': groups.join(','),
    description: `Lets ${cluster === undefined ? 'a cluster' : `cluster ${cluster}`} ask to join the fleet${told === '' ? '' : ` with ${told}`}`,
  };
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(Object.entries(content).map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  };
}

/**
 * Makes a token with which an agent may ask to join, and nothing else.
 *
 * @throws RangeError if the facts are not valid, or longer than a token may carry
 */
export async function createBootstrapToken(
  client: Client,
  options: BootstrapTokenOptions = {},
  now: number = wallNow(),
): Promise<BootstrapToken> {
  const fault = placementFactsFault(options.facts ?? {});
  if (fault !== undefined) throw new RangeError(`a token cannot carry this: ${fault}`);
  const id = randomText(6);
  const token: BootstrapToken = {
    id,
    token: `${id}.${randomText(16)}`,
    expires: formatTime(now + (options.ttl ?? HOUR_MS)),
  };
  await client.resource(SECRETS).create(bootstrapTokenSecret(token, options));
  return token;
}

function randomText(length: number): string {
  return Array.from({ length }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
}
