import { homedir } from 'node:os';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Client,
  type ClientOptions,
  type Connection,
  createClient,
  createTransport,
  type Kubeconfig,
  type KubeconfigContext,
  loadKubeconfig,
  TRUSTED_SERVER,
  type Transport,
  withBasePath,
  withEnvironmentProxy,
} from '@asterism/client';
import { memberProxyPath } from '@asterism/fleet/api';
import { CommandError, EXIT } from './exit-code.ts';
import { hubServerOf } from './kubeconfig/hub-contexts.ts';
import { nameSilentApis } from './name-silent-apis.ts';
import type { Terminal } from './output/terminal.ts';
import { type ReadConnectionOptions, readConnection } from './read-connection.ts';
import { oneLine } from './output/one-line.ts';

/** A person who asks for everything gets all of it, up to this. */
const WHOLE_LISTS: Partial<ClientOptions> = {
  readLimits: { list: { maxBytes: 512 * 1024 * 1024, maxItems: 50_000_000 } },
  readBudgetBytes: 512 * 1024 * 1024,
};

/** The flags that say where the hub is; the same for every command that talks to it. */
export interface SessionFlags {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
}

/** A conversation with one hub. */
export interface Session extends AsyncDisposable {
  readonly hub: Client;
  /** How the hub is reached, and as whom. */
  readonly connection: Connection;
  /** The namespace of `-n`, else the context's, else `default`. */
  readonly namespace: string;
  /** The API server of a member, reached through the hub as the caller. */
  member(cluster: string): Client;
}

/** Where `aster up` leaves its kubeconfig: taken when neither a flag nor `$KUBECONFIG` names another. */
export const defaultKubeconfig = (): string => join(homedir(), '.asterism', 'kubeconfig');

function kubeconfigPath(flags: SessionFlags): string | undefined {
  if (flags.kubeconfig !== undefined) {
    if (existsSync(flags.kubeconfig)) return flags.kubeconfig;
    throw new CommandError(
      `no kubeconfig at ${flags.kubeconfig}: \`aster up\` writes one into its data dir`,
      EXIT.usage,
    );
  }
  if (process.env['KUBECONFIG']) return undefined;
  return existsSync(defaultKubeconfig()) ? defaultKubeconfig() : undefined;
}

/** The hub of a kubeconfig: all that the flags lead to. */
export interface HubOfKubeconfig {
  kubeconfig: Kubeconfig;
  /** What messages call the kubeconfig. */
  where: string;
  /** Of the context that is taken. */
  context: KubeconfigContext | undefined;
  connection: Connection;
}

/** Reads where the hub is. A context that leads to a member or to search, as `aster kubeconfig` writes them, means the hub behind. */
export async function readHub(
  flags: SessionFlags,
  { verified }: Pick<ReadConnectionOptions, 'verified'> = {},
): Promise<HubOfKubeconfig> {
  const path = kubeconfigPath(flags);
  const kubeconfig = await loadKubeconfig(path);
  const where = path ?? process.env['KUBECONFIG'] ?? 'the kubeconfig';
  const connection = await readConnection(kubeconfig, { context: flags.context, where, verified });
  const named = kubeconfig.contexts.find(({ name }) => name === (flags.context ?? kubeconfig['current-context']));
  return {
    kubeconfig,
    where,
    context: named?.context,
    connection: { ...connection, server: hubServerOf(connection.server) },
  };
}

/** Warnings that come with answers go to `terminal`, each once; without one they are dropped. */
export async function openSession(
  flags: SessionFlags,
  terminal?: Pick<Terminal, 'err'>,
  options: Pick<ReadConnectionOptions, 'verified'> = {},
): Promise<Session> {
  const { connection: read, context } = await readHub(flags, options);
  const connection = withEnvironmentProxy(read);
  const transport = nameSilentApis(createTransport(connection));
  const onWarning = terminal ? printOnce(terminal) : undefined;
  const clientOf = (through: Transport, limits: Partial<ClientOptions>) =>
    createClient({ transport: through, userAgent: 'aster', fieldManager: 'aster', onWarning, ...limits });
  return {
    hub: clientOf(transport, TRUSTED_SERVER),
    connection,
    namespace: flags.namespace || context?.namespace || 'default',
    member: (cluster) => clientOf(withBasePath(transport, memberProxyPath(cluster)), WHOLE_LISTS),
    [Symbol.asyncDispose]: () => transport.close(),
  };
}

function printOnce(terminal: Pick<Terminal, 'err'>): (warning: string) => void {
  const printed = new Set<string>();
  return (warning) => {
    if (printed.has(warning)) return;
    printed.add(warning);
    terminal.err(oneLine(`Warning: ${warning}`));
  };
}
