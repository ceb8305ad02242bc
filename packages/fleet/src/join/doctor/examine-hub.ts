import type { Client, Clock } from '@asterism/client';
import { LEASES, StatusError } from '@asterism/machinery';
import {
  CLUSTER_REGISTRATIONS,
  type ClusterRegistration,
  CLUSTERS,
  HUB_LEASE,
  SEARCH_PATH,
  SYSTEM_NAMESPACE,
} from '../../api/index.ts';
import { explainHubFailure } from '../connect/explain-failure.ts';
import { type Finding, fault, fine, remark } from '../finding.ts';
import { clockFinding, clockSkew, formatDuration } from '../preflight/check-clock.ts';
import { isAllowed } from '../preflight/check-rights.ts';
import { examineStorage } from './examine-storage.ts';

export interface ExamineHubOptions {
  hub: Client;
  /** Its address, for people. */
  server: string;
  clock: Clock;
  signal?: AbortSignal | undefined;
}

export interface HubExamination {
  findings: Finding[];
  /** How far the hub's clock is ahead of this one's, ms. */
  aheadMs: number;
  /** Whether it answers at all: else nothing else can be looked at. */
  reached: boolean;
  /** Who asked to join, where that may be read. */
  registrations: readonly ClusterRegistration[];
}

/** Looks at the hub itself: reach and identity, clock, rights, store, leadership, search, and who waits to be let in. */
export async function examineHub(options: ExamineHubOptions): Promise<HubExamination> {
  const { hub, server, clock, signal } = options;
  try {
    const sent = clock.wall().getTime();
    const { status, headers, body } = await hub.request({ method: 'GET', path: '/version', signal });
    body.destroy();
    const aheadMs = clockSkew(String(headers['date'] ?? ''), sent, clock.wall().getTime());
    if (status === 401) {
      const message = `${server} does not know who you are (401)`;
      return {
        findings: [fault('hub', message, 'get a new kubeconfig of the hub')],
        aheadMs: 0,
        reached: false,
        registrations: [],
      };
    }
    const findings = [
      fine('hub', `${server} answers, and its certificate is good`),
      clockFinding('clock', 'the hub', aheadMs),
    ];
    const further = await Promise.all([
      rights(options),
      examineStorage(hub, signal),
      leader(options, aheadMs ?? 0),
      search(options),
    ]);
    const { finding, registrations } = await waiting(options);
    findings.push(...[...further.flat(), finding].filter((found) => found !== undefined));
    return { findings, aheadMs: aheadMs ?? 0, reached: true, registrations };
  } catch (error) {
    signal?.throwIfAborted();
    const explained = explainHubFailure(error, server, 'certificate');
    if (!explained) throw error;
    const remedy =
      explained.code === 'HubUnreachable'
        ? 'is the hub up, and the address in the kubeconfig right? Where a proxy leads there, set HTTPS_PROXY'
        : 'get a new kubeconfig of the hub, and set the clocks right';
    return { findings: [fault('hub', explained.message, remedy)], aheadMs: 0, reached: false, registrations: [] };
  }
}

async function rights({ hub, signal }: ExamineHubOptions): Promise<Finding> {
  const attempts = [
    { verb: 'list', group: CLUSTERS.group, resource: 'clusters' },
    { verb: 'list', group: CLUSTERS.group, resource: 'clusterregistrations' },
    { verb: 'get', group: 'proxy.asterism.dev', resource: 'clusters', subresource: 'proxy' },
  ];
  const answers = await Promise.all(attempts.map((attempt) => isAllowed(hub, attempt, { signal })));
  const missing = attempts.filter((_, index) => answers[index] === false);
  if (missing.length === 0) return fine('rights', 'yours are enough to look at everything');
  const words = missing.map(
    ({ verb, group, resource, subresource }) => `${verb} ${resource}.${group}${subresource ? `/${subresource}` : ''}`,
  );
  return remark('rights', `you may not ${words.join(', ')} in the hub: not everything can be looked at`);
}

/** An embedded hub has no Lease: its controllers end with its process. */
async function leader({ hub, clock, signal }: ExamineHubOptions, aheadMs: number): Promise<Finding | undefined> {
  try {
    const { spec = {} } = await hub.resource(LEASES).get({ namespace: SYSTEM_NAMESPACE, name: HUB_LEASE }, { signal });
    const { holderIdentity, renewTime, leaseDurationSeconds = 15 } = spec;
    const age = clock.wall().getTime() + aheadMs - Date.parse(renewTime ?? '');
    if (holderIdentity && age < leaseDurationSeconds * 2_000) return fine('controllers', `led by ${holderIdentity}`);
    return fault(
      'controllers',
      holderIdentity ? `the hub that led is silent for ${formatDuration(age)}` : 'no hub leads',
      'start a hub on this kube-apiserver: aster hub --kubeconfig',
    );
  } catch (error) {
    if (error instanceof StatusError && (error.code === 404 || error.code === 403)) return undefined;
    throw error;
  }
}

async function search({ hub, signal }: ExamineHubOptions): Promise<Finding> {
  try {
    await hub.getJson(`${SEARCH_PATH}/api/v1/namespaces?limit=1`, { signal });
    return fine('search', 'answers');
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    if (error.code === 403) return remark('search', `you may not ask it: ${error.message}`);
    return fault(
      'search',
      `does not answer (${error.code}): ${error.message}`,
      "see the hub's log; on a kube-apiserver also `kubectl get apiservices`",
    );
  }
}

async function waiting({
  hub,
  signal,
}: ExamineHubOptions): Promise<{ finding?: Finding; registrations: readonly ClusterRegistration[] }> {
  try {
    const { items: registrations } = await hub.resource(CLUSTER_REGISTRATIONS).list({ signal });
    const open = registrations.filter(({ status }) => status?.decision === undefined);
    if (open.length === 0) return { registrations };
    const names = open.map(({ metadata }) => metadata.name).join(', ');
    const remedy = 'look at them (aster get clusterregistrations -o wide), and let them in: aster approve NAME';
    return { registrations, finding: remark('registrations', `${open.length} wait to be let in: ${names}`, remedy) };
  } catch (error) {
    if (error instanceof StatusError && error.code === 403) return { registrations: [] };
    if (!(error instanceof StatusError) || error.code !== 404) throw error;
    const message = 'it has no clusterregistrations: it is an API server, but no hub';
    return { registrations: [], finding: fault('hub', message, 'check the kubeconfig and its context') };
  }
}
