import { CERTIFICATE_SIGNING_REQUESTS, isConflict, isNotFound, type KubeObject } from '@asterism/machinery';
import type { UserInfo } from '../contract/user-info.ts';
import type { Authorizer } from '../contract/authorizer.ts';
import { KeyedWork } from '../controllers/keyed-work.ts';
import { type FollowedObject, followResource } from '../registry/follow-resource.ts';
import type { Registry } from '../registry/registry.ts';
import { requireResource } from '../registry/require-resource.ts';
import { KUBELET_CLIENT_SIGNER, refuseKubeletClient } from './signer-rules.ts';
import { readSigningRequest, type SigningRequestContent } from './signing-request.ts';

interface Request extends KubeObject {
  spec?: {
    request?: string;
    signerName?: string;
    usages?: string[];
    username?: string;
    uid?: string;
    groups?: string[];
    extra?: Record<string, string[]>;
  };
  status?: { conditions?: { type: string }[]; certificate?: string };
}

export interface SigningApproverOptions {
  registry: Registry;
  /** Says whether who asks may have such a certificate without a person's approval. */
  authorizer: Authorizer;
  /** Who approves, in what is written. */
  user: UserInfo;
  signal: AbortSignal;
  onError(request: string, error: unknown): void;
}

/**
 * Approves the requests of kubelets for client certificates, and nothing else, where who asks may `create`
 * `certificatesigningrequests/nodeclient`, or `…/selfnodeclient` for its own name. Without such a grant it approves nothing.
 * https://kubernetes.io/docs/reference/access-authn-authz/kubelet-tls-bootstrapping/#approval
 */
export function startSigningApprover(options: SigningApproverOptions): { ended: Promise<void> } {
  const { registry, signal, onError } = options;
  const pending = new Map<string, Request>();
  const work = new KeyedWork({
    async work(name) {
      const request = pending.get(name);
      if (request !== undefined) await approve(options, request);
      pending.delete(name);
    },
    onError,
    signal,
  });
  const follower = {
    onApply(request: KubeObject): void {
      const name = request.metadata?.name ?? '';
      if (!isOpen(request)) return void pending.delete(name);
      pending.set(name, request);
      work.add(name);
    },
    onDelete: ({ metadata }: FollowedObject): void => void pending.delete(metadata.name ?? ''),
  };
  const following = followResource(registry, CERTIFICATE_SIGNING_REQUESTS, follower, signal);
  following.synced.catch(() => {});
  return { ended: following.ended.then(() => work.settled()) };
}

function isOpen({ metadata, spec, status }: Request): boolean {
  if (spec?.signerName !== KUBELET_CLIENT_SIGNER || status?.certificate || metadata?.deletionTimestamp) return false;
  return !(status?.conditions ?? []).some(({ type }) => type === 'Approved' || type === 'Denied');
}

async function approve({ registry, authorizer, user }: SigningApproverOptions, request: Request): Promise<void> {
  const { request: encoded = '', usages = [], username = '', uid, groups = [], extra } = request.spec ?? {};
  const content = await readContent(encoded);
  if (content === undefined || refuseKubeletClient(content, usages) !== undefined) return;
  const asker = { username, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) };
  const { group, version, resource } = CERTIFICATE_SIGNING_REQUESTS;
  const may = async (subresource: string): Promise<boolean> =>
    (await authorizer.authorize({ user: asker, verb: 'create', group, version, resource, subresource })).allowed;
  const isSelf = content.commonName === username && (await may('selfnodeclient'));
  if (!isSelf && !(await may('nodeclient'))) return;
  const condition = {
    type: 'Approved',
    status: 'True',
    reason: 'AutoApproved',
    message: `Auto approving ${isSelf ? 'self ' : ''}kubelet client certificate after SubjectAccessReview.`,
  };
  const status = { ...request.status, conditions: [...(request.status?.conditions ?? []), condition] };
  const name = request.metadata?.name ?? '';
  const context = { name, subresource: 'approval', user, fieldManager: 'kube-controller-manager' };
  try {
    await registry.update(
      requireResource(registry, CERTIFICATE_SIGNING_REQUESTS),
      { name },
      { ...request, status },
      context,
    );
  } catch (error) {
    // Somebody else decided, or took it back; what is there now is told again.
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
}

async function readContent(encoded: string): Promise<SigningRequestContent | undefined> {
  try {
    return await readSigningRequest(Buffer.from(encoded, 'base64').toString('utf8'));
  } catch {
    return undefined;
  }
}
