import {
  type Client,
  type Clock,
  type Connection,
  type HttpTransport,
  keepRenewed,
  type Refusals,
  type Validity,
} from '@asterism/client';
import { API_VERSION, type Cluster, CLUSTERS } from '@asterism/fleet/api';
import { type AgentCredential, lifeOf, renewCertificate, saveAgentCredential, validityOf } from '@asterism/fleet/join';
import { formatTime, setCondition } from '@asterism/machinery';
import { backoff, type Logger } from '@asterism/runtime';

/** The agent's way to the hub: what comes new goes by the last certificate. */
export interface CertifiedHub {
  client: Client;
  transport: HttpTransport;
  connection: Connection;
  credential: AgentCredential & { certificate: string };
  /** Whether that certificate was issued in this run. */
  issuedNow: boolean;
  /** Where 401 answers of the hub are reported. */
  refusals: Refusals;
}

export interface KeepCertificateOptions {
  clusterName: string;
  hub: CertifiedHub;
  member: Client;
  logger: Logger;
  clock: Clock;
  random?: () => number;
}

/** The condition of a Cluster by which its agent says how its certificate is. */
export const CERTIFICATE_CONDITION = 'CertificateCurrent';
const MANAGER = 'asterism-agent-certificate';

/**
 * Renews the agent's certificate when two thirds of its life are over, with the key that it has, until the signal aborts. What
 * runs goes on; what is begun after that goes with the new certificate, which the member keeps before it is used. A renewal
 * that fails is tried again, more and more seldom; the Cluster and the log say so.
 */
export async function keepCertificate(options: KeepCertificateOptions, signal: AbortSignal): Promise<void> {
  const { hub, logger, clock, random = Math.random } = options;
  const waits = backoff({ initialMs: 5_000, factor: 2, capMs: 10 * 60_000, jitter: 0.2, random });
  let { credential } = hub;
  await tell(options, current(credential), signal);
  const renewed = async (): Promise<Validity> => {
    credential = await renew(options, credential, signal);
    waits.reset();
    logger.info({ until: untilOf(credential) }, 'renewed the certificate of this agent');
    await tell(options, current(credential), signal);
    return lifeOf(credential.certificate, clock.wall().getTime());
  };
  const failing = async (error: unknown): Promise<number> => {
    const retryInMs = waits.next();
    logger.warn({ err: error, retryInMs, until: untilOf(credential) }, 'the certificate could not be renewed');
    await tell(options, failed(credential, error), signal);
    return retryInMs;
  };
  const validity = lifeOf(credential.certificate, hub.issuedNow ? clock.wall().getTime() : undefined);
  await keepRenewed({ clock, validity, renew: renewed, failed: failing, refusals: hub.refusals }, signal);
}

async function renew(
  { clusterName, hub, member, clock }: KeepCertificateOptions,
  credential: CertifiedHub['credential'],
  signal: AbortSignal,
): Promise<CertifiedHub['credential']> {
  const { key } = credential;
  const certificate = await renewCertificate({ clusterName, key, hub: hub.client, clock, signal });
  const renewed = { ...credential, certificate };
  await saveAgentCredential(member, renewed, signal);
  hub.transport.replaceConnection({
    ...hub.connection,
    credential: { kind: 'certificate', cert: certificate, key },
  });
  return renewed;
}

interface Told {
  status: 'True' | 'False';
  reason: string;
  message: string;
}

const untilOf = ({ certificate }: CertifiedHub['credential']): string => formatTime(validityOf(certificate).until);

function current(credential: CertifiedHub['credential']): Told {
  return { status: 'True', reason: 'Current', message: `the agent's certificate is good until ${untilOf(credential)}` };
}

function failed(credential: CertifiedHub['credential'], error: unknown): Told {
  const message = `the agent's certificate ends at ${untilOf(credential)}, and could not be renewed: ${(error as Error).message}`;
  return { status: 'False', reason: 'RenewalFailed', message };
}

/** A hub that cannot be told is told next time; nothing hangs on it. */
async function tell({ clusterName, hub, logger, clock }: KeepCertificateOptions, told: Told, signal: AbortSignal) {
  try {
    const clusters = hub.client.resource(CLUSTERS);
    const { metadata, status } = await clusters.get({ name: clusterName }, { signal });
    const before = status?.conditions?.filter(({ type }) => type === CERTIFICATE_CONDITION);
    const observedGeneration = metadata.generation ?? 1;
    const conditions = setCondition(
      before,
      { type: CERTIFICATE_CONDITION, ...told, observedGeneration },
      formatTime(clock.wall().getTime()),
    );
    const said = { apiVersion: API_VERSION, kind: 'Cluster', metadata: { name: clusterName }, status: { conditions } };
    await clusters.apply(said as Cluster, { fieldManager: MANAGER, force: true, subresource: 'status', signal });
  } catch (error) {
    if (!signal.aborted) logger.debug({ err: error }, 'the hub could not be told how the certificate is');
  }
}
