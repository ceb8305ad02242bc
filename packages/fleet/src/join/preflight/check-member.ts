import { type Client, type Clock, READ_LIMITS, readBody } from '@asterism/client';
import { type KubeObject, NAMESPACES, parseJson, StatusError, ifFound } from '@asterism/machinery';
import { MADE_BY_JOIN, MADE_BY_LABEL, SYSTEM_NAMESPACE } from '../../api/index.ts';
import { certifiedCluster, loadAgentCredential } from '../connect/agent-credential.ts';
import { explainMemberFailure } from '../connect/explain-failure.ts';
import { certificatePin, isPublicKeyPin } from '../connect/public-key-pin.ts';
import { TAKE_OUT_BY_HAND } from '../leave/take-out-by-hand.ts';
import { type Finding, fault, fine, remark } from '../finding.ts';
import { clockFinding, clockSkew } from './check-clock.ts';
import { type Attempt, attemptsToApply, checkRights } from './check-rights.ts';

/** The oldest minor version of Kubernetes 1 that members are tested with. */
const OLDEST_MINOR = 20;

export interface CheckMemberOptions {
  member: Client;
  /** Where it is, for people: its address. */
  where: string;
  clusterName: string;
  /** The authority of the hub that it is to join, PEM or pin; undefined where it is not known. */
  hubAuthority: string | undefined;
  /** What is to be applied there. */
  objects: readonly KubeObject[];
  /** What else the user must be allowed to do. */
  further?: readonly Attempt[] | undefined;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

export interface MemberCheck {
  findings: Finding[];
  /** The name that it has joined this hub by, where it has. */
  joinedAs?: string;
}

/**
 * Looks whether a cluster can be joined by way of this client: that it answers, is new enough and keeps time, that the user may do
 * all that it takes, and that it has not joined already. Changes nothing.
 */
export async function checkMember(options: CheckMemberOptions): Promise<MemberCheck> {
  const { member, where, objects, further = [], signal } = options;
  try {
    const findings = await checkServer(options);
    if (findings.some(({ check, state }) => check === 'cluster' && state === 'Fault')) return { findings };
    const typed = await Promise.all(
      objects.map(async (object) => ({ object, type: await member.discovery.typeFor(object) })),
    );
    findings.push(await checkRights(member, { attempts: [...attemptsToApply(typed), ...further], where, signal }));
    findings.push(...(await checkNamespace(options)));
    const { joinedAs, finding } = await checkJoined(options);
    findings.push(finding);
    return { findings, ...(joinedAs === undefined ? {} : { joinedAs }) };
  } catch (error) {
    if (signal?.aborted) throw error;
    const explained = explainMemberFailure(error);
    const message = (explained ?? (error as Error)).message;
    return { findings: [fault('cluster', `${where}: ${message}`, 'check the kubeconfig and its context')] };
  }
}

async function checkServer({ member, where, clock, signal }: CheckMemberOptions): Promise<Finding[]> {
  const sent = clock.wall().getTime();
  const response = await member.request({ method: 'GET', path: '/version', signal });
  const received = clock.wall().getTime();
  const text = (await readBody(response.body, where, { signal, limits: READ_LIMITS.text })).toString();
  const remedy = 'check the user of the kubeconfig and its context';
  if (response.status === 401) {
    return [fault('cluster', `${where} does not know the user of the kubeconfig (401)`, remedy)];
  }
  if (response.status !== 200) {
    return [fault('cluster', `${where} answers ${response.status} when asked for its version`, remedy)];
  }
  const ahead = clockSkew(String(response.headers['date'] ?? ''), sent, received);
  return [versionFinding(where, text), clockFinding('cluster clock', `the API server at ${where}`, ahead)];
}

function versionFinding(where: string, text: string): Finding {
  const { major, minor, gitVersion } = parseJson(text) as { major?: string; minor?: string; gitVersion?: string };
  const version = gitVersion ?? `${major}.${minor}`;
  const number = Number.parseInt(minor ?? '', 10);
  if (major === '1' && number < OLDEST_MINOR) {
    return fault(
      'version',
      `${where} is Kubernetes ${version}: older than 1.${OLDEST_MINOR}, the oldest that can join`,
      'upgrade it',
    );
  }
  return fine('version', `${where} is Kubernetes ${version}`);
}

/** A namespace that was there before stays when the cluster leaves. */
async function checkNamespace({ member, where, signal }: CheckMemberOptions): Promise<Finding[]> {
  const getting = member.resource(NAMESPACES).get({ name: SYSTEM_NAMESPACE }, { signal });
  // Who may not look has less rights than it takes, which is told elsewhere.
  const namespace = await unlessForbidden(ifFound(getting), undefined);
  if (namespace?.metadata?.deletionTimestamp !== undefined) {
    return [
      fault(
        'namespace',
        `${SYSTEM_NAMESPACE} in ${where} is being deleted: an earlier join is still being taken out`,
        'wait until it is gone: kubectl get namespace asterism-system',
      ),
    ];
  }
  if (!namespace || namespace.metadata?.labels?.[MADE_BY_LABEL] === MADE_BY_JOIN) return [];
  return [
    remark(
      'namespace',
      `${SYSTEM_NAMESPACE} is there already and no join made it: it will stay when the cluster leaves`,
    ),
  ];
}

/** Where no hub takes the earlier join out. Nothing does it unasked: the other hub may only be away. */
const BY_HAND = `delete here what that join made: ${TAKE_OUT_BY_HAND.join(' && ')}`;

/** The name is given only where it is the one that is wanted. */
async function checkJoined({
  member,
  where,
  clusterName,
  hubAuthority,
  signal,
}: CheckMemberOptions): Promise<{ finding: Finding; joinedAs?: string }> {
  const credential = await unlessForbidden(loadAgentCredential(member, signal), 'unreadable' as const);
  if (credential === 'unreadable') {
    return { finding: remark('joined', `whether ${where} has joined before cannot be read`) };
  }
  if (!credential?.certificate || !credential.authority) {
    return { finding: fine('joined', `${where} has not joined a hub yet`) };
  }
  const { certificate, authority } = credential;
  const joinedAs = certifiedCluster({ certificate }) ?? '?';
  const pin = hubAuthority === undefined || isPublicKeyPin(hubAuthority) ? hubAuthority : certificatePin(hubAuthority);
  const finding =
    pin !== undefined && certificatePin(authority) !== pin
      ? fault(
          'joined',
          `${where} has joined another hub, as "${joinedAs}"`,
          `take it out there first: aster leave ${joinedAs}. Only if that hub is gone, ${BY_HAND}`,
        )
      : joinedAs === clusterName
        ? fine('joined', `${where} has joined as "${clusterName}": its agent is put right`)
        : fault(
            'joined',
            `${where} has joined this hub as "${joinedAs}", not as "${clusterName}"`,
            `give --name ${joinedAs}, or take it out first: aster leave ${joinedAs}. If the hub has let it go by force, ${BY_HAND}`,
          );
  return finding.state === 'Fine' ? { finding, joinedAs } : { finding };
}

async function unlessForbidden<T, F>(asking: Promise<T>, instead: F): Promise<T | F> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof StatusError && error.code === 403) return instead;
    throw error;
  }
}
