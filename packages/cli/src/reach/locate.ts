import type { Client } from '@asterism/client';
import { type KubeObject, type Pod, PODS, resourcePath } from '@asterism/machinery';
import { CommandError } from '../exit-code.ts';
import type { Session, SessionFlags } from '../session.ts';
import { findCluster } from './find-cluster.ts';
import { type PodOrder, podsOf } from './pods-of.ts';
import type { Target } from './target.ts';

export interface LocateFlags extends SessionFlags {
  clusters?: string;
}

/** Where a target is, and its pods, the first the best. */
export interface Located {
  cluster: string;
  client: Client;
  object: KubeObject;
  pods: [Pod, ...Pod[]];
}

export interface LocateOptions {
  order: PodOrder;
  note(line: string): void;
}

/** Finds the cluster of a target and the pods that it stands for. */
export async function locate(
  session: Session,
  target: Target,
  flags: LocateFlags,
  { order, note }: LocateOptions,
): Promise<Located> {
  const { namespace } = session;
  const { type, name } = target;
  const quest = {
    what: `${type.kind.toLowerCase()} ${JSON.stringify(name)} in namespace ${JSON.stringify(namespace)}`,
    path: `${resourcePath(type, { namespace })}?names=${encodeURIComponent(name)}`,
    ask: (member: Client, signal: AbortSignal) => member.resource(type).get({ namespace, name }, { signal }),
  };
  const { cluster, client, answer } = await findCluster(session, quest, { clusters: flags.clusters, note });
  return { cluster, client, object: answer, pods: await podsOf(client, target, answer, order) };
}

/** Finds the cluster of the pods that a label selector takes. */
export async function locateSelected(
  session: Session,
  selector: string,
  flags: LocateFlags,
  note: (line: string) => void,
): Promise<Omit<Located, 'object'>> {
  const { namespace } = session;
  const quest = {
    what: `pod with labels ${JSON.stringify(selector)} in namespace ${JSON.stringify(namespace)}`,
    path: `${resourcePath(PODS, { namespace })}?labelSelector=${encodeURIComponent(selector)}`,
    async ask(member: Client, signal: AbortSignal): Promise<Pod[] | undefined> {
      const { items } = await member.resource(PODS).list({ namespace, labelSelector: selector, signal });
      return items.length === 0 ? undefined : items;
    },
  };
  const { cluster, client, answer } = await findCluster(session, quest, { clusters: flags.clusters, note });
  const [first, ...rest] = answer;
  if (first === undefined) throw new CommandError(`there is no ${quest.what}`);
  return { cluster, client, pods: [first, ...rest] };
}
