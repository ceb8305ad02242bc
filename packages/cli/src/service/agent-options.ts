import { withoutTrailing } from '@asterism/machinery';
import { MAX_CLUSTER_NAME } from '@asterism/fleet/api';
import { isPublicKeyPin, type RegistrationFacts } from '@asterism/fleet/join';
import { parseDestination, type ReachMode } from '@asterism/fleet/reach';
import { CommandError, EXIT } from '../exit-code.ts';
import { parseStatusListen } from './listen-address.ts';
import type { SyncMode } from './sync-mode.ts';

/** The flags of `aster agent`, as they were typed. */
export interface AgentFlags {
  kubeconfig?: string;
  context?: string;
  endpoint?: string;
  endpointCa?: string;
  name?: string;
  mode?: SyncMode;
  reach?: ReachMode;
  allowDestination?: string[];
  destinationCa?: string;
  hub?: string;
  hubCa?: string;
  tokenFile?: string;
  provider?: string;
  region?: string;
  zones?: string;
  labels?: string;
  probeListen?: string;
}

/** What the flags say by themselves; files and the cluster are still to be read. */
export interface ParsedAgentFlags {
  clusterName: string;
  syncMode: SyncMode;
  reachMode: ReachMode | undefined;
  /** `https://host:port` or `http://host:port`. */
  destinations: string[];
  /** A file with PEM. */
  destinationCa: string | undefined;
  hubServer: string;
  /** A pin, or a file with PEM. */
  hubCa: { pin: string } | { file: string };
  endpoint: string | undefined;
  /** A file with PEM. */
  endpointCa: string | undefined;
  description: RegistrationFacts;
  /** Where a kubelet's probes are answered. */
  probes?: { host: string; port: number };
}

/** Throws as wrong usage, naming the flag and what would be right. */
export function parseAgentFlags(flags: AgentFlags): ParsedAgentFlags {
  const { name, mode, hub, hubCa } = flags;
  if (name === undefined || mode === undefined || hub === undefined || hubCa === undefined) {
    const needed = { '--name': name, '--mode': mode, '--hub': hub, '--hub-ca': hubCa };
    const missing = Object.entries(needed).flatMap(([flag, value]) => (value === undefined ? [flag] : []));
    throw new CommandError(`${missing.join(', ')} must be given (--help tells more)`, EXIT.usage);
  }
  if (flags.endpointCa !== undefined && flags.endpoint === undefined) {
    throw new CommandError('--endpoint-ca: says nothing without --endpoint', EXIT.usage);
  }
  return {
    clusterName: parseClusterName('--name', name),
    syncMode: mode,
    reachMode: parseReach(flags, mode),
    ...parseDestinations(flags, mode),
    hubServer: parseServer('--hub', hub),
    hubCa: parseHubCa(hubCa),
    endpoint: flags.endpoint === undefined ? undefined : parseServer('--endpoint', flags.endpoint),
    endpointCa: flags.endpointCa,
    description: parseFacts(flags),
    ...(flags.probeListen === undefined ? {} : { probes: parseStatusListen(flags.probeListen, '--probe-listen') }),
  };
}

/** What the hub is told of the cluster when it joins. */
export function parseFacts(
  flags: Pick<AgentFlags, 'provider' | 'region' | 'zones' | 'labels'>,
  labelFlag = '--labels',
): RegistrationFacts {
  return {
    provider: flags.provider,
    region: flags.region,
    zones: flags.zones === undefined ? undefined : parseZones(flags.zones),
    labels: flags.labels === undefined ? undefined : parseLabels(flags.labels, labelFlag),
  };
}

/** What the agent lets the hub's callers do at most. */
export function parseReach({ reach }: Pick<AgentFlags, 'reach'>, mode: SyncMode): ReachMode | undefined {
  if (reach === undefined || mode !== 'Push') return reach;
  throw new CommandError(
    '--reach: says nothing with --mode push: there the hub comes without this agent. Set spec.reach.mode of the Cluster in the hub',
    EXIT.usage,
  );
}

/** Where calls may go beside the cluster's own API server. */
export function parseDestinations(
  { allowDestination = [], destinationCa }: Pick<AgentFlags, 'allowDestination' | 'destinationCa'>,
  mode: SyncMode,
): Pick<ParsedAgentFlags, 'destinations' | 'destinationCa'> {
  const destinations = allowDestination.map((text) => {
    const parsed = parseDestination(text);
    if ('origin' in parsed) return parsed.origin;
    throw new CommandError(`--allow-destination: ${parsed.fault}`, EXIT.usage);
  });
  if (destinations.length > 0 && mode === 'Push') {
    throw new CommandError(
      '--allow-destination: says nothing with --mode push: the hub dials the API server, and no call comes to this agent',
      EXIT.usage,
    );
  }
  if (destinationCa !== undefined && !destinations.some((origin) => origin.startsWith('https:'))) {
    throw new CommandError('--destination-ca: says nothing without --allow-destination https://…', EXIT.usage);
  }
  return { destinations, destinationCa };
}

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** As the hub will demand it: its namespace there is made of it. */
export function parseClusterName(flag: string, text: string): string {
  if (LABEL.test(text) && text.length <= MAX_CLUSTER_NAME) return text;
  throw new CommandError(
    `${flag}: ${JSON.stringify(text)} is no name of a cluster: at most ${MAX_CLUSTER_NAME} of a-z, 0-9 and -, neither first nor last a -`,
    EXIT.usage,
  );
}

/** `https://host[:port]`, without a slash at its end. */
export function parseServer(flag: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const holdsPassword = text.includes('@');
  if (url?.protocol === 'https:' && !holdsPassword && !url.search && !url.hash) return withoutTrailing(text, '/');
  const shown = holdsPassword ? 'it' : JSON.stringify(text);
  throw new CommandError(
    `${flag}: ${shown} is not https://HOST:PORT${holdsPassword ? ': leave user and password out' : ''}`,
    EXIT.usage,
  );
}

export function parseHubCa(text: string, flag = '--hub-ca'): ParsedAgentFlags['hubCa'] {
  const pin = text.toLowerCase();
  if (!pin.startsWith('sha256:')) return { file: text };
  if (isPublicKeyPin(pin)) return { pin };
  throw new CommandError(
    `${flag}: ${JSON.stringify(text)} is no pin: sha256: and 64 hex digits, as \`aster token create\` at the hub prints it`,
    EXIT.usage,
  );
}

function parseZones(text: string): string[] {
  const zones = text.split(',').map((zone) => zone.trim());
  if (zones.every((zone) => zone !== '')) return zones;
  throw new CommandError(`--zones: ${JSON.stringify(text)} is not a list like eu-1a,eu-1b`, EXIT.usage);
}

const LABEL_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_PREFIX = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** `k=v,k=v`, with Kubernetes' own rules for label keys and values. */
function parseLabels(text: string, flag: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const [key, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    if (at < 0 || !isLabelKey(key) || (value !== '' && !LABEL_NAME.test(value))) {
      throw new CommandError(
        `${flag}: ${JSON.stringify(pair)} is not a label like tier=production (at most 63 of A-Z a-z 0-9 - _ . on either side)`,
        EXIT.usage,
      );
    }
    if (Object.hasOwn(labels, key))
      throw new CommandError(`${flag}: ${JSON.stringify(key)} is there twice`, EXIT.usage);
    labels[key] = value;
  }
  return labels;
}

function isLabelKey(key: string): boolean {
  const slash = key.indexOf('/');
  return LABEL_NAME.test(key.slice(slash + 1)) && (slash < 0 || LABEL_PREFIX.test(key.slice(0, slash)));
}
