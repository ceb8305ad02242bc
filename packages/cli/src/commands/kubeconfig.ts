import { existsSync } from 'node:fs';
import {
  ClientError,
  editKubeconfig,
  kubeconfigPaths,
  type KubeconfigEdit,
  parseKubeconfig,
  rewriteKubeconfig,
} from '@asterism/client';
import { CLUSTERS } from '@asterism/fleet/api';
import { isStatusError } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { contextsEdit, type ContextsOptions, type HubEntries } from '../kubeconfig/hub-contexts.ts';
import type { Terminal } from '../output/terminal.ts';
import { type HubOfKubeconfig, openSession, readHub, type Session, type SessionFlags } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface KubeconfigFlags extends SessionFlags {
  clusters?: string;
  all?: boolean;
  output?: string;
  merge?: boolean;
  prune?: boolean;
  name: string;
}

/** `aster kubeconfig`: contexts for kubectl, through the hub, as whom the caller is there. */
export async function writeContexts(flags: KubeconfigFlags, terminal: Terminal): Promise<number> {
  refuseContradictions(flags);
  const hub = entriesOf(await readHub(flags));
  await using session = await openSession(flags, terminal);
  const members = await membersOf(flags, session);
  const prune = flags.prune ? await namesOfAll(session) : undefined;
  const options: ContextsOptions = { name: flags.name, members, prune };
  const edit = async (text: string): Promise<{ text: string; made: KubeconfigEdit }> => {
    const made = contextsEdit(await parseKubeconfig(text === '' ? '{}' : text), hub, options);
    return { text: await editKubeconfig(text, made), made };
  };
  if (flags.output === undefined && !flags.merge) {
    terminal.out((await edit('')).text);
    return EXIT.fine;
  }
  const file = flags.output ?? kubeconfigPaths()[0] ?? '';
  let made: KubeconfigEdit | undefined;
  await rewriteKubeconfig(file, async (text) => {
    const edited = await edit(text).catch((cause: unknown) => {
      if (!(cause instanceof ClientError)) throw cause;
      throw new CommandError(`${file}: ${cause.message}`, EXIT.error, { cause });
    });
    made = edited.made;
    return edited.text;
  });
  const names = (list: readonly { name: string }[] = []) => list.map(({ name }) => name).join(', ');
  terminal.err(oneLine(`Wrote to ${file}: ${names(made?.set.contexts)}`));
  const removed = made?.remove?.contexts ?? [];
  if (removed.length > 0) terminal.err(oneLine(`Removed from it: ${removed.join(', ')}`));
  return EXIT.fine;
}

function refuseContradictions({ all, clusters, merge, prune, output, name }: KubeconfigFlags): void {
  const refuse = (message: string): never => {
    throw new CommandError(message, EXIT.usage);
  };
  if (all && clusters !== undefined && clusters !== 'all') refuse('--all and -C do not go together: choose one');
  if (prune && !merge) refuse('--prune takes contexts out of a file that is there: it needs --merge');
  if (name === '' || name.includes('/')) refuse(`--name: ${JSON.stringify(name)} is no name for a context of a hub`);
  if (output !== undefined && !merge && existsSync(output)) {
    refuse(`${output} is there already: --merge adds to it and leaves all else in it as it is`);
  }
}

/** The entries of the file as they are: a plugin stays a plugin, a path a path. */
function entriesOf({ kubeconfig, context, connection }: HubOfKubeconfig): HubEntries {
  const cluster = kubeconfig.clusters.find(({ name }) => name === context?.cluster)?.cluster;
  const user = kubeconfig.users.find(({ name }) => name === context?.user)?.user;
  return {
    cluster: { ...cluster, server: connection.server },
    user: user ?? {},
    namespace: context?.namespace,
  };
}

async function membersOf({ clusters, all }: KubeconfigFlags, session: Session): Promise<string[]> {
  if (clusters !== undefined && clusters !== 'all' && !all) return await resolveClusters(clusters, session.hub);
  return await namesOfAll(session);
}

async function namesOfAll({ hub }: Session): Promise<string[]> {
  try {
    const { items } = await hub.resource(CLUSTERS).list();
    return items.map(({ metadata }) => metadata.name ?? '').sort();
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    throw new CommandError(`${error.message}: name those that you want (-C a,b), without --prune`, EXIT.forbidden, {
      cause: error,
    });
  }
}
