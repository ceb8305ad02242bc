import { homedir } from 'node:os';
import { join } from 'node:path';
import type { HubOnKubernetesOptions } from '@asterism/hub';
import { parseTime } from '../commands/parse-ttl.ts';
import type { ReachLimits } from '@asterism/fleet/reach';
import { CommandError, EXIT } from '../exit-code.ts';
import type { AuditFlags } from './audit-flags.ts';
import { parseAdvertise, parseListen, parseStatusListen } from './listen-address.ts';
import { findOidcFlag, type OidcFlags } from './oidc-flags.ts';
import { parseDataDir } from './parse-data-dir.ts';

/** The flags of `aster hub`, as they were typed. */
export interface HubFlags extends AuditFlags, OidcFlags {
  kubeconfig?: string;
  context?: string;
  templates?: 'host' | 'embedded';
  dataDir?: string;
  listen?: string;
  advertise?: string;
  statusListen?: string;
  serve?: 'leader' | 'all';
  replicaListen?: string;
  replicaAdvertise?: string;
  clusterSigningDuration?: string;
  reachCallsPerCaller?: string;
  reachCallsPerCluster?: string;
}

interface Common {
  dataDir: string;
  listen: { host: string; port: number };
  advertise: { host: string; port?: number } | undefined;
  status: { host: string; port: number } | undefined;
  reachLimits: Partial<ReachLimits>;
}

/** An API server of its own, or the one of a kubeconfig. */
export type HubServiceOptions =
  | (Common & { form: 'embedded'; signingDurationMs: number })
  | (Common & {
      form: 'kubernetes';
      kubeconfig: string;
      context: string | undefined;
      templates: 'host' | 'embedded';
      serve: 'leader' | 'all';
      replica: HubOnKubernetesOptions['replica'];
    });

/** What is renewed every few seconds is not there when a machine is slow; what is good for years is forgotten. */
const SIGNING = { shortest: '1m', longest: '365d' };

/** Throws as wrong usage, naming the flag and what would be right. */
export function parseHubFlags(flags: HubFlags): HubServiceOptions {
  const { kubeconfig, context, templates } = flags;
  const home = join(homedir(), '.asterism');
  const common: Common = {
    dataDir: parseDataDir(flags.dataDir, kubeconfig === undefined ? home : join(home, 'hub')),
    listen: parseListen(flags.listen ?? '127.0.0.1:7443'),
    advertise: flags.advertise === undefined ? undefined : parseAdvertise(flags.advertise),
    status: flags.statusListen === undefined ? undefined : parseStatusListen(flags.statusListen),
    reachLimits: {
      ...parseLimit('--reach-calls-per-caller', 'perCaller', flags.reachCallsPerCaller),
      ...parseLimit('--reach-calls-per-cluster', 'perCluster', flags.reachCallsPerCluster),
    },
  };
  if (kubeconfig !== undefined) {
    const oidc = findOidcFlag(flags);
    if (oidc !== undefined) {
      throw new CommandError(
        `${oidc}: with --kubeconfig that kube-apiserver says who people are: give it this flag`,
        EXIT.usage,
      );
    }
    if (flags.clusterSigningDuration !== undefined) {
      throw new CommandError(
        "--cluster-signing-duration: with --kubeconfig that cluster's kube-controller-manager signs: give it this flag",
        EXIT.usage,
      );
    }
    const serve = flags.serve ?? 'leader';
    return {
      ...common,
      form: 'kubernetes',
      kubeconfig,
      context,
      templates: templates ?? 'host',
      serve,
      replica: replicaOf(flags),
    };
  }
  for (const [flag, value] of [
    ['--context', context],
    ['--templates', templates],
    ['--serve', flags.serve],
    ['--replica-listen', flags.replicaListen],
    ['--replica-advertise', flags.replicaAdvertise],
  ]) {
    if (value !== undefined) throw new CommandError(`${flag}: says nothing without --kubeconfig`, EXIT.usage);
  }
  if (common.advertise?.port !== undefined) {
    throw new CommandError(
      `--advertise: without --kubeconfig others reach the hub at the port of --listen: name the host alone, ${common.advertise.host}`,
      EXIT.usage,
    );
  }
  const signingDurationMs = parseTime('--cluster-signing-duration', flags.clusterSigningDuration ?? '365d', SIGNING);
  return { ...common, form: 'embedded', signingDurationMs };
}

/** Where other processes on the same kube-apiserver bring their links. */
function replicaOf({ replicaListen, replicaAdvertise }: HubFlags): HubOnKubernetesOptions['replica'] {
  return {
    listen: replicaListen === undefined ? undefined : parseListen(replicaListen, '--replica-listen'),
    advertise: replicaAdvertise === undefined ? undefined : parseAdvertise(replicaAdvertise, '--replica-advertise'),
  };
}

function parseLimit(flag: string, name: keyof ReachLimits, text: string | undefined): Partial<ReachLimits> {
  if (text === undefined) return {};
  if (/^[1-9]\d{0,6}$/.test(text)) return { [name]: Number(text) };
  throw new CommandError(`${flag}: ${JSON.stringify(text)} is not a whole number from 1 on`, EXIT.usage);
}
