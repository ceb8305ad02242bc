import { loadKubeconfig } from '@asterism/client';
import { type AuditOptions, createHub, createHubOnKubernetes, type OidcIssuer } from '@asterism/hub';
import { keepHeapCompact, type Logger } from '@asterism/runtime';
import { EXIT } from '../exit-code.ts';
import { stderrLogger } from '../log/json-logger.ts';
import { readConnection } from '../read-connection.ts';
import { announce } from './announce.ts';
import { readAuditFlags } from './audit-flags.ts';
import { explainHubStart } from './explain-hub-start.ts';
import { type HubFlags, type HubServiceOptions, parseHubFlags } from './hub-options.ts';
import { readOidcFlags } from './oidc-flags.ts';
import { prepareDataDir } from './prepare-data-dir.ts';
import { stopSignal, whenAborted } from './stop-signal.ts';

/** `aster hub`: until SIGTERM or SIGINT, or until a part of it fails. */
export async function runHubService(flags: HubFlags): Promise<number> {
  const options = parseHubFlags(flags);
  const audit = await readAuditFlags(flags);
  const oidc = await readOidcFlags(flags);
  const stop = stopSignal();
  const logger = stderrLogger();
  keepHeapCompact(stop);
  try {
    await prepareDataDir(options.dataDir);
    const surroundings = { logger, stop, ...(audit && { audit }) };
    if (options.form === 'embedded') await serveEmbedded(options, { ...surroundings, ...(oidc && { oidc: [oidc] }) });
    else await serveOnKubernetes(options, surroundings);
  } catch (error) {
    throw explainHubStart(error, options.dataDir);
  }
  logger.info({}, 'stopped');
  return EXIT.fine;
}

type Embedded = Extract<HubServiceOptions, { form: 'embedded' }>;
type OnKubernetes = Extract<HubServiceOptions, { form: 'kubernetes' }>;

interface Surroundings {
  logger: Logger;
  stop: AbortSignal;
  audit?: AuditOptions;
}

async function serveEmbedded(
  options: Embedded,
  { logger, stop, ...more }: Surroundings & { oidc?: OidcIssuer[] },
): Promise<void> {
  const { dataDir, listen, advertise, status, signingDurationMs, reachLimits } = options;
  await using hub = createHub({
    dataDir,
    listen,
    status,
    reachLimits,
    advertise: advertise ? [advertise.host] : [],
    signingDurationMs,
    logger,
    ...more,
  });
  await Promise.race([hub.start(), whenAborted(stop)]);
  if (stop.aborted) return;
  announce(`ready ${hub.url}`);
  await Promise.race([hub.done, whenAborted(stop)]);
  logger.info({}, 'stopping');
}

async function serveOnKubernetes(options: OnKubernetes, { logger, stop, ...audit }: Surroundings): Promise<void> {
  const { kubeconfig, context, templates, dataDir, listen, advertise, status, serve, replica, reachLimits } = options;
  const host = await readConnection(await loadKubeconfig(kubeconfig), { context, where: kubeconfig, verified: true });
  await using hub = createHubOnKubernetes({
    host,
    dataDir,
    listen,
    ...(advertise === undefined ? {} : { advertise }),
    templates,
    status,
    serve,
    replica,
    reachLimits,
    logger,
    ...audit,
  });
  await Promise.race([hub.start(), whenAborted(stop)]);
  if (stop.aborted) return;
  announce(`serving ${hub.url}`);
  hub.leading.then(
    () => announce('leading'),
    // Stopped before, which `done` tells of.
    () => {},
  );
  await Promise.race([hub.done, whenAborted(stop)]);
  logger.info({}, 'stopping');
}
