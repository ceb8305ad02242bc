import type { Client } from '@asterism/client';
import { CLUSTERS, SEARCH_PATH } from '@asterism/fleet/api';
import { isNotFound, isStatusError, type KubeList, type KubeObject } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { CommandError, describeError, EXIT } from '../exit-code.ts';

/** How to look for something whose cluster nobody named. */
export interface Quest<T> {
  /** For messages: `pod "web" in namespace "demo"`. */
  what: string;
  /** Where search knows of it: a path, with its query, of an API server. */
  path: string;
  /** Asks one member. Undefined: it is not there; rejecting with `NotFound` says the same. */
  ask(member: Client, signal: AbortSignal): Promise<T | undefined>;
}

/** Members as the hub reaches them. */
export interface Fleet {
  hub: Client;
  member(cluster: string): Client;
}

export interface FindOptions {
  /** Of `-C`: these clusters alone. */
  clusters?: string | undefined;
  /** How long a member may take to answer. Default 5 s. */
  deadlineMs?: number | undefined;
  /** Told what the user should know though it was found. */
  note(line: string): void;
}

export interface Found<T> {
  cluster: string;
  client: Client;
  answer: T;
}

/** What a member said. */
type Reply<T> = { cluster: string } & ({ answer: T } | { absent: true } | { silent: string });

const DEADLINE_MS = 5000;

/**
 * Finds the one cluster in which something is: those that search names are asked first, then, where it is in none of them, all
 * members at the same time, each with a deadline. That one `-C` names is taken at its word, and may take its time.
 *
 * Throws where it is nowhere, where it is in several (they are listed), and names who did not answer.
 */
export async function findCluster<T>(fleet: Fleet, quest: Quest<T>, options: FindOptions): Promise<Found<T>> {
  const named = options.clusters === undefined ? undefined : await resolveClusters(options.clusters, fleet.hub);
  const [only] = named ?? [];
  if (only !== undefined && named?.length === 1) return await inTheOne(fleet, quest, only);
  const searched = await fromSearch(fleet.hub, quest.path, named);
  const replies = await askEach(fleet, quest, searched, options);
  const found = replies.filter((reply) => 'answer' in reply);
  if (found.length > 0) return choose(fleet, quest, found, replies, options);
  const others = (named ?? (await namesOfAll(fleet.hub))).filter((cluster) => !searched.includes(cluster));
  const all = [...replies, ...(await askEach(fleet, quest, others, options))];
  const elsewhere = all.filter((reply) => 'answer' in reply);
  const unheard = replies.flatMap((reply) => ('silent' in reply ? [`${reply.cluster} (${reply.silent})`] : []));
  if (elsewhere.length === 0 && unheard.length > 0) {
    throw new CommandError(`${quest.what} is where it cannot be asked for now, as search knows: ${unheard.join(', ')}`);
  }
  return choose(fleet, quest, elsewhere, all, options);
}

async function inTheOne<T>(fleet: Fleet, { what, ask }: Quest<T>, cluster: string): Promise<Found<T>> {
  const client = fleet.member(cluster);
  const answer = await ask(client, new AbortController().signal).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    return undefined;
  });
  if (answer === undefined) throw new CommandError(`there is no ${what} in cluster ${cluster}`);
  return { cluster, client, answer };
}

/** Names of clusters; none where search does not know, or cannot be asked. */
async function fromSearch(hub: Client, path: string, among: readonly string[] | undefined): Promise<string[]> {
  const url = new URL(SEARCH_PATH + path, 'https://hub');
  if (among !== undefined) url.searchParams.set('clusters', among.join(','));
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const list = (await hub.getJson(url.pathname + url.search, { signal })) as KubeList<KubeObject>;
    const names = list.items.map(({ metadata }) => metadata?.annotations?.['search.asterism.dev/cluster'] ?? '');
    return [...new Set(names)].filter((name) => name !== '').sort();
  } catch {
    return [];
  }
}

async function namesOfAll(hub: Client): Promise<string[]> {
  try {
    const { items } = await hub.resource(CLUSTERS).list();
    return items.map(({ metadata }) => metadata.name ?? '').sort();
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    throw new CommandError(`${error.message}: say with -C in which cluster`, EXIT.forbidden, { cause: error });
  }
}

async function askEach<T>(
  fleet: Fleet,
  quest: Quest<T>,
  clusters: readonly string[],
  { deadlineMs = DEADLINE_MS }: FindOptions,
): Promise<Reply<T>[]> {
  return await Promise.all(
    clusters.map(async (cluster): Promise<Reply<T>> => {
      const signal = AbortSignal.timeout(deadlineMs);
      try {
        const answer = await quest.ask(fleet.member(cluster), signal);
        return answer === undefined ? { cluster, absent: true } : { cluster, answer };
      } catch (error) {
        if (isNotFound(error)) return { cluster, absent: true };
        return { cluster, silent: signal.aborted ? `no answer in ${deadlineMs / 1000} s` : describeError(error) };
      }
    }),
  );
}

function choose<T>(
  fleet: Fleet,
  { what }: Quest<T>,
  found: readonly Extract<Reply<T>, { answer: T }>[],
  all: readonly Reply<T>[],
  { note }: FindOptions,
): Found<T> {
  const silent = all.flatMap((reply) => ('silent' in reply ? [`${reply.cluster} (${reply.silent})`] : []));
  const unheard = silent.length === 0 ? '' : `; who did not say: ${silent.join(', ')}`;
  const [first, ...more] = found;
  if (first === undefined) {
    const asked = all.flatMap((reply) => ('absent' in reply ? [reply.cluster] : []));
    const where = asked.length === 0 ? 'in any cluster' : `in ${asked.join(', ')}`;
    throw new CommandError(`there is no ${what} ${where}${unheard}`);
  }
  if (more.length > 0) {
    const names = found.map(({ cluster }) => cluster).join(', ');
    throw new CommandError(`${what} is in several clusters: ${names}. Say in which with -C${unheard}`, EXIT.usage);
  }
  if (silent.length > 0) note(`${what} is in ${first.cluster}${unheard}`);
  return { cluster: first.cluster, client: fleet.member(first.cluster), answer: first.answer };
}
