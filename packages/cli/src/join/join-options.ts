import { parseProxyUrl } from '@asterism/client';
import {
  type AgentFlags,
  parseClusterName,
  parseDestinations,
  parseFacts,
  parseHubCa,
  parseReach,
  parseServer,
} from '../service/agent-options.ts';
import { type PermissionFlags, parsePermissions } from '../service/permission-flags.ts';
import type { Permissions, RegistrationFacts } from '@asterism/fleet/join';
import type { ReachMode } from '@asterism/fleet/reach';
import { clientVersion } from '../commands/version.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { SyncMode } from '../service/sync-mode.ts';

/** The flags of `aster join`, as they were typed. */
export interface JoinFlags extends AgentFlags, PermissionFlags {
  token?: string;
  caHash?: string;
  image?: string;
  proxy?: string;
  hostNetwork?: boolean;
  manifest?: boolean;
  dryRun?: boolean;
  /** `--no-wait` makes it false. */
  wait?: boolean;
  timeout?: string;
  push?: boolean;
  useGivenCredential?: boolean;
  hubKubeconfig?: string;
  hubContext?: string;
}

/** What the flags of a join with an agent say by themselves. */
export interface JoinOptions {
  clusterName: string;
  syncMode: SyncMode;
  hubServer: string;
  hubCa: { pin: string } | { file: string };
  endpoint: string | undefined;
  endpointCa: string | undefined;
  reachMode: ReachMode | undefined;
  /** `https://host:port` or `http://host:port`. */
  destinations: string[];
  /** A file with PEM. */
  destinationCa: string | undefined;
  description: RegistrationFacts;
  /** Undefined: those that the cluster has. */
  permissions: Permissions | undefined;
  image: string;
  proxy: string | undefined;
  hostNetwork: boolean;
  timeoutMs: number;
}

/** What `deploy/agent/Dockerfile` is built as, where nobody says otherwise. */
export const defaultImage = (): string => `asterism-agent:${clientVersion()}`;

/** Which flags each way of joining takes beside those of the others. */
const OF_AGENT = [
  'token',
  'tokenFile',
  'caHash',
  'hubCa',
  'hub',
  'image',
  'proxy',
  'hostNetwork',
  'manifest',
  'mode',
  'reach',
  'allowDestination',
  'destinationCa',
] as const;
const OF_PUSH = ['useGivenCredential', 'hubKubeconfig', 'hubContext'] as const;

/** Throws as wrong usage, naming a flag that says nothing in this way of joining. */
export function refuseForeignFlags(flags: JoinFlags): void {
  const foreign = flags.push ? OF_AGENT : OF_PUSH;
  const given = foreign.find((flag) => flags[flag] !== undefined);
  if (given === undefined) return;
  const typed = `--${given.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new CommandError(
    `${typed}: says nothing ${flags.push ? 'with' : 'without'} --push${flags.push ? ', which joins without an agent' : ''}`,
    EXIT.usage,
  );
}

/** Throws as wrong usage, naming the flag and what would be right. */
export function parseJoinFlags(flags: JoinFlags): JoinOptions {
  refuseForeignFlags(flags);
  const { name, hub, caHash, hubCa } = flags;
  const needed = { '--name': name, '--hub': hub, '--ca-hash': caHash ?? hubCa };
  const missing = Object.entries(needed).flatMap(([flag, value]) => (value === undefined ? [flag] : []));
  if (name === undefined || hub === undefined || missing.length > 0) {
    throw new CommandError(
      `${missing.join(', ')} must be given: \`aster token create\` at the hub prints the whole command`,
      EXIT.usage,
    );
  }
  if (caHash !== undefined && hubCa !== undefined) {
    throw new CommandError('--ca-hash, --hub-ca: one of them is enough', EXIT.usage);
  }
  if (flags.endpointCa !== undefined && flags.endpoint === undefined) {
    throw new CommandError('--endpoint-ca: says nothing without --endpoint', EXIT.usage);
  }
  const syncMode = flags.mode ?? 'Pull';
  return {
    clusterName: parseClusterName('--name', name),
    syncMode,
    hubServer: parseServer('--hub', hub),
    hubCa: caHash === undefined ? { file: hubCa ?? '' } : pinOnly(caHash),
    endpoint: flags.endpoint === undefined ? undefined : parseServer('--endpoint', flags.endpoint),
    endpointCa: flags.endpointCa,
    reachMode: parseReach(flags, syncMode),
    ...parseDestinations(flags, syncMode),
    description: parseFacts(flags),
    permissions: parsePermissions(flags),
    image: flags.image ?? defaultImage(),
    proxy: flags.proxy === undefined ? undefined : parseProxy(flags.proxy),
    hostNetwork: flags.hostNetwork === true,
    timeoutMs: parseTimeout(flags.timeout ?? '5m'),
  };
}

function pinOnly(text: string): { pin: string } {
  const parsed = parseHubCa(text, '--ca-hash');
  if ('pin' in parsed) return parsed;
  throw new CommandError(
    `--ca-hash: ${JSON.stringify(text)} is no pin, sha256: and 64 hex digits; a file with the CA goes to --hub-ca`,
    EXIT.usage,
  );
}

function parseProxy(text: string): string {
  if (/^https?:\/\//i.test(text) && isProxy(text)) return text;
  throw new CommandError(`--proxy: not http://HOST:PORT, the proxy that leads to the hub`, EXIT.usage);
}

function isProxy(text: string): boolean {
  try {
    return parseProxyUrl(text).host !== '';
  } catch {
    return false;
  }
}

const UNITS: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `30s`, `5m`, `1h`. Throws as wrong usage of `--timeout`. */
export function parseTimeout(text: string): number {
  const match = /^(\d{1,6})([smh])$/.exec(text);
  if (match) return Number(match[1]) * (UNITS[match[2] ?? ''] ?? 0);
  throw new CommandError(
    `--timeout: ${JSON.stringify(text)} is not a time: a whole number and its unit, as in 30s, 5m, 1h`,
    EXIT.usage,
  );
}
