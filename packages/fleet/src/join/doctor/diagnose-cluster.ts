import { findCondition } from '@asterism/machinery';
import {
  type Cluster,
  type ClusterRegistration,
  NOT_READY_TAINT,
  SYSTEM_NAMESPACE,
  UNREACHABLE_TAINT,
} from '../../api/index.ts';
import type { Refusal } from '../../reach/refusal.ts';
import { DEFAULT_PROFILE, type PermissionProfile } from '../access/permissions.ts';
import { hasGivenCredential } from '../direct/has-given-credential.ts';
import { isWithoutAgent } from '../direct/is-without-agent.ts';
import { type Finding, fault, fine, remark } from '../finding.ts';
import { HEARTBEAT_TIMEOUT_MS } from '../health/health-controller.ts';
import { leaveOf, leavingMessage } from '../leave/leave-state.ts';
import { formatDuration } from '../preflight/check-clock.ts';

/** What a call to the member through the hub came to. */
export type Probe =
  | { answered: true; roundTripMs: number }
  /** Why who asks was not let in; undefined where no answer came, or one of another kind. */
  | { answered: false; refusal: Refusal | undefined; message: string };

export interface ClusterFacts {
  cluster: Cluster;
  /** The Lease's `renewTime`, ms since 1970; undefined where it was never renewed, or may not be read. */
  renewed: number | undefined;
  /** The hub's clock, ms since 1970. */
  now: number;
  /** Of this cluster's name. */
  registrations: readonly ClusterRegistration[];
  /** `/version` and `/readyz` of the member, through the hub, as who asks. */
  probe: Probe;
  /** Failing checks of the member's `/readyz`, by name; undefined where it could not be asked. */
  failing: readonly string[] | undefined;
  /** Of this `aster`. */
  version: string;
}

/** Beyond this a clock is off, not a heartbeat late, ms. */
const SKEW_MS = 30_000;

/**
 * What is wrong with one cluster, from its agent to what people do through the hub, each with what to do about it.
 *
 * - (D1) What follows from something that was found already is not told again: of a cluster whose agent is silent, that it is.
 * - (D2) Whether a cluster is alive the hub says, which saw its Lease change; a time in that Lease that does not fit is a clock.
 */
export function diagnoseCluster(facts: ClusterFacts): Finding[] {
  const { cluster } = facts;
  const findings = [registration(facts), heartbeat(facts), clock(facts), ready(facts), certificate(cluster)];
  const silent = findings.some((finding) => finding?.check === 'heartbeat' && finding.state === 'Fault');
  const further = silent ? [] : [way(facts), permissions(cluster), versions(facts)];
  return [leaving(cluster), ...findings, ...further].filter((finding) => finding !== undefined);
}

function leaving(cluster: Cluster): Finding | undefined {
  if (leaveOf(cluster) === undefined) return undefined;
  const { name } = cluster.metadata;
  return remark(
    'leaving',
    `it leaves the fleet: ${leavingMessage(cluster) ?? 'the hub has not looked at it yet'}`,
    `aster leave ${name} tells how far it is; with --force where the cluster is gone`,
  );
}

function registration({ cluster, registrations }: ClusterFacts): Finding | undefined {
  const { name } = cluster.metadata;
  const waiting = registrations.find(({ status }) => status?.decision === undefined);
  if (waiting) {
    return remark(
      'registration',
      `somebody asks to join as "${name}" again (${waiting.metadata.name}): ${waiting.status?.message ?? 'not looked at yet'}`,
      'where its agent lost its Secret: aster approve with that name; else with --deny',
    );
  }
  if (cluster.spec.publicKeyHash !== undefined) return fine('registration', 'joined, bound to its key');
  if (isWithoutAgent(cluster)) return fine('registration', 'joined without an agent: the hub dials it');
  return fault(
    'registration',
    'no agent is bound to it: nobody ever joined by this name, or its key was taken away',
    `join it: aster token create --cluster ${name}`,
  );
}

function isSilent({ spec, status }: Cluster): boolean {
  const tainted = spec.taints?.some(({ key }) => key === UNREACHABLE_TAINT) === true;
  return tainted || findCondition(status?.conditions, 'Ready')?.status === 'Unknown';
}

function heartbeat({ cluster, renewed, now }: ClusterFacts): Finding {
  const ago = renewed === undefined ? 'never' : `${formatDuration(Math.max(now - renewed, 0))} ago`;
  if (!isSilent(cluster)) return fine('heartbeat', renewed === undefined ? 'the hub hears it' : `heard of ${ago}`);
  const message = `not heard of${renewed === undefined ? '' : ` since ${ago}`}`;
  if (isWithoutAgent(cluster)) {
    const { apiEndpoint = '?' } = cluster.spec.connection;
    return fault(
      'heartbeat',
      `${message}: the API server at ${apiEndpoint} does not answer the hub`,
      'is it up, and does the hub get there? After a change of its address or certificate: aster join --push again',
    );
  }
  return fault(
    'heartbeat',
    `${message}: its agent, the cluster, or the way from there to the hub is down`,
    `there: kubectl -n ${SYSTEM_NAMESPACE} get pods; kubectl -n ${SYSTEM_NAMESPACE} logs deployment/asterism-agent`,
  );
}

/** The hub sees a Lease change and does not read its time; so a time that does not fit is the agent's clock (D2). */
function clock({ cluster, renewed, now }: ClusterFacts): Finding | undefined {
  if (renewed === undefined) return undefined;
  const ahead = renewed - now;
  const remedy = 'set the clock of the machine that the agent runs on (NTP)';
  if (ahead > SKEW_MS)
    return fault('clock', `its agent's clock is ${formatDuration(ahead)} ahead of the hub's`, remedy);
  if (!isSilent(cluster) && -ahead > HEARTBEAT_TIMEOUT_MS + SKEW_MS) {
    return fault('clock', `its agent's clock is ${formatDuration(-ahead)} behind the hub's`, remedy);
  }
  return fine('clock', 'agrees with the hub');
}

function ready({ cluster, failing }: ClusterFacts): Finding | undefined {
  if (isSilent(cluster)) return undefined;
  const condition = findCondition(cluster.status?.conditions, 'Ready');
  if (!condition) return remark('ready', 'it has not reported yet', 'ask again in some seconds');
  const tainted = cluster.spec.taints?.some(({ key }) => key === NOT_READY_TAINT) === true;
  if (condition.status === 'True' && (failing?.length ?? 0) === 0) return fine('ready', condition.message ?? 'Ready');
  const which = failing?.length ? `: failing are ${failing.join(', ')}` : '';
  const kept = tainted ? '; nothing new is placed there' : '';
  return fault(
    'ready',
    `${condition.message ?? 'its API server is not ready'}${which}${kept}`,
    'look at that API server and its etcd',
  );
}

/** What the agent says of its own certificate. */
function certificate({ status }: Cluster): Finding | undefined {
  const condition = findCondition(status?.conditions, 'CertificateCurrent');
  if (!condition) return undefined;
  const message = condition.message ?? 'its agent says nothing more';
  if (condition.status === 'True') return fine('certificate', message);
  return fault(
    'certificate',
    message,
    'see the log of the agent; join it again with a token before the certificate ends',
  );
}

/** The agent, or the hub, compares the rights of its account with the profile. */
function permissions(cluster: Cluster): Finding | undefined {
  const { status } = cluster;
  if (status?.permissions === undefined) return withoutProfile(cluster);
  const { profile, namespaces, missing = [], excess = [] } = status.permissions;
  const again = joinAgain(cluster, profile);
  if (excess.length > 0) {
    const message = `its account may do more than the profile ${profile} includes: ${excess.join('; ')}`;
    return fault('permissions', message, `${again}; then look for other role bindings of the account there`);
  }
  if (missing.length > 0) {
    return fault('permissions', `its account lacks rights of the profile ${profile}: ${missing.join('; ')}`, again);
  }
  const where = namespaces === undefined ? '' : ` in ${namespaces.length} namespaces`;
  return fine('permissions', `its account has the profile ${profile}${where}`);
}

/** The profile is reported with the version of Kubernetes. The hub makes no account where an administrator gave it a credential. */
function withoutProfile(cluster: Cluster): Finding | undefined {
  if (cluster.status?.kubernetesVersion === undefined || hasGivenCredential(cluster)) return undefined;
  return remark(
    'permissions',
    'an earlier release joined it: its account has the roles of that release, and no permission profile',
    joinAgain(cluster, DEFAULT_PROFILE),
  );
}

function joinAgain(cluster: Cluster, profile: PermissionProfile): string {
  const { metadata, spec } = cluster;
  const how = isWithoutAgent(cluster) ? `--push --name ${metadata.name} ` : '';
  return `join the cluster "${metadata.name}" again (${spec.syncMode}): aster join ${how}--permissions ${profile}`;
}

function way({ cluster, probe }: ClusterFacts): Finding {
  if (probe.answered) {
    return fine('way in', `its API server answers through the hub in ${Math.round(probe.roundTripMs)} ms`);
  }
  const { refusal, message } = probe;
  if (refusal !== undefined) return refused(cluster, refusal, message);
  if (cluster.spec.connection.type === 'Tunnel') {
    return fault(
      'way in',
      `no way through its tunnel: ${message}`,
      'see the log of its agent: does it reach the hub, and a proxy let it through?',
    );
  }
  return fault(
    'way in',
    `${cluster.spec.connection.apiEndpoint ?? 'its API server'} does not answer the hub: ${message}`,
    'is it up, and does the hub get there? After a change of its address, certificate or token: join it again',
  );
}

function refused(cluster: Cluster, refusal: Refusal, message: string): Finding {
  const { name } = cluster.metadata;
  const untried = (remedy: string): Finding => remark('way in', `it may not be tried: ${message}`, remedy);
  switch (refusal) {
    case 'CannotImpersonate': {
      if (cluster.status?.permissions?.profile === 'workloads') {
        const named = 'name them when you join it again: aster join --permissions workloads --callers NAME';
        return untried(
          `with the profile workloads the cluster admits the callers that its administrator names: ${named}`,
        );
      }
      const again = isWithoutAgent(cluster)
        ? `join it again: aster join --push --name ${name}`
        : `apply the manifests there again: aster agent manifests --mode ${cluster.spec.syncMode.toLowerCase()}`;
      return fault('impersonation', `who comes through the hub cannot be himself there: ${message}`, again);
    }
    case 'ReachMode':
      return untried(`where callers shall come in: set spec.reach.mode of Cluster "${name}" in the hub`);
    case 'AgentRefused':
      return untried(
        'where callers shall come in: put its agent in with another --reach (aster join, aster agent); its log tells what it refuses',
      );
    case 'SystemUser':
      return untried('ask as somebody whose name does not begin with system:, by a certificate or token of his own');
    case 'HubForbids':
      return untried(`get clusters.proxy.asterism.dev/proxy of "${name}" allowed in the hub`);
    case 'MemberForbids':
      return untried(`get nonResourceURL /version allowed by the RBAC of "${name}" itself`);
  }
}

function versions({ cluster, version }: ClusterFacts): Finding | undefined {
  const { agentVersion } = cluster.status ?? {};
  if (agentVersion === undefined) return undefined;
  const minor = (text: string): string => text.replace(/^v/, '').split('.').slice(0, 2).join('.');
  if (minor(agentVersion) === minor(version)) return fine('agent', `version ${agentVersion}`);
  return remark(
    'agent',
    `its agent is version ${agentVersion}, aster ${version}`,
    'put the same in there: aster join (or its manifest) with an image of this version',
  );
}
