import { CERTIFICATE_SIGNING_REQUESTS, formatTime, isConflict, isNotFound, type KubeObject } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import { type FollowedObject, followResource } from '../registry/follow-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { KeyPair } from './certificate-authority.ts';
import { refusalOfSigner } from './signer-rules.ts';
import { readSigningRequest, type SigningRequestContent, signRequest } from './signing-request.ts';

/** What a certificate is good for where its request does not say, and at most. */
const MAX_MS = 365 * 24 * 60 * 60 * 1000;
/** What is asked for is taken for no less. */
const MIN_SECONDS = 10 * 60;

interface RequestSpec {
  request?: string;
  signerName?: string;
  usages?: string[];
  expirationSeconds?: number;
}

interface RequestCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

interface RequestStatus {
  conditions?: RequestCondition[];
  certificate?: string;
}

export interface SigningControllerOptions {
  registry: Registry;
  ca: KeyPair;
  signerNames: readonly string[];
  /** The longest that a certificate is good for, ms. Default a year. */
  durationMs?: number | undefined;
  /** Groups besides `system:masters` that no certificate names. */
  privilegedGroups?: readonly string[] | undefined;
  /** Who signs, in what is written. */
  user: UserInfo;
  /** Milliseconds since 1970. */
  clock: () => number;
  signal: AbortSignal;
  onError(request: string, error: unknown): void;
}

/**
 * Signs approved CertificateSigningRequests until the signal: for the subject that was approved, by the rules of each signer, for
 * as long as it asks (default and at most `durationMs`, never longer than the authority). A request that the signer must not sign gets the
 * condition `Failed`.
 * https://kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests/
 */
export function startSigningController(options: SigningControllerOptions): { ended: Promise<void> } {
  const signers = new Set(options.signerNames);
  const pending = new Map<string, KubeObject>();
  let running: Promise<void> | undefined;
  const signPending = async (): Promise<void> => {
    for (const [name, request] of pending) {
      if (options.signal.aborted) break;
      pending.delete(name);
      try {
        await writeStatus(options, request, await statusAfterSigning(options, request));
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error)) options.onError(name, error);
      }
    }
    running = undefined;
  };
  const follower = {
    onApply: (request: KubeObject): void => {
      if (!isToBeSigned(request, signers)) return;
      pending.set(request.metadata?.name ?? '', request);
      running ??= Promise.resolve().then(signPending);
    },
    onDelete: ({ metadata }: FollowedObject): void => {
      pending.delete(metadata.name ?? '');
    },
  };
  const following = followResource(options.registry, CERTIFICATE_SIGNING_REQUESTS, follower, options.signal);
  following.synced.catch(() => {});
  return { ended: following.ended.then(() => running) };
}

async function writeStatus(
  { registry, user }: SigningControllerOptions,
  request: KubeObject,
  status: RequestStatus,
): Promise<void> {
  const { group, version, resource: plural } = CERTIFICATE_SIGNING_REQUESTS;
  const resource = registry.find(group, version, plural)!;
  const name = request.metadata?.name ?? '';
  const context = { name, subresource: 'status', user, fieldManager: 'csr-signing-controller' };
  await registry.update(resource, { name }, { ...request, status }, context);
}

/** The certificate, or the condition that says why there is none. */
async function statusAfterSigning(
  { ca, clock, durationMs = MAX_MS, privilegedGroups }: SigningControllerOptions,
  request: KubeObject,
): Promise<RequestStatus> {
  const status = (request.status ?? {}) as RequestStatus;
  const outcome = await sign((request.spec ?? {}) as RequestSpec, ca, {
    now: clock(),
    maxSeconds: Math.floor(durationMs / 1000),
    privilegedGroups,
  });
  if ('certificate' in outcome) {
    return { ...status, certificate: Buffer.from(outcome.certificate).toString('base64') };
  }
  const now = formatTime(clock());
  const failed = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message: outcome.refusal,
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
  return { ...status, conditions: [...(status.conditions ?? []), failed] };
}

/** Approved, not denied, not done, and ours. */
export function isToBeSigned(request: KubeObject, signers: ReadonlySet<string>): boolean {
  const { signerName = '' } = (request.spec ?? {}) as RequestSpec;
  const { conditions = [], certificate } = (request.status ?? {}) as RequestStatus;
  if (!signers.has(signerName) || certificate || request.metadata?.deletionTimestamp !== undefined) return false;
  const has = (type: string): boolean => conditions.some((condition) => condition.type === type);
  return has('Approved') && !has('Denied') && !has('Failed');
}

async function sign(
  { request = '', signerName = '', usages = [], expirationSeconds }: RequestSpec,
  ca: KeyPair,
  {
    now,
    maxSeconds,
    privilegedGroups,
  }: { now: number; maxSeconds: number; privilegedGroups: readonly string[] | undefined },
): Promise<{ certificate: string } | { refusal: string }> {
  const csr = Buffer.from(request, 'base64').toString('utf8');
  let content: SigningRequestContent;
  try {
    content = await readSigningRequest(csr);
  } catch (error) {
    return { refusal: `the request cannot be read: ${(error as Error).message}` };
  }
  const refusal = refusalOfSigner(signerName, content, { usages, privilegedGroups });
  if (refusal !== undefined) return { refusal };
  const certificate = await signRequest(ca, csr, {
    usages: [usages.includes('server auth') ? 'server' : 'client'],
    keyEncipherment: usages.includes('key encipherment'),
    seconds: Math.min(Math.max(MIN_SECONDS, expirationSeconds ?? maxSeconds), maxSeconds),
    now,
  });
  return { certificate };
}
