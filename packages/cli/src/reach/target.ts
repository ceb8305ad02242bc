import {
  BUILTIN_RESOURCES,
  type BuiltinResource,
  DAEMON_SETS,
  DEPLOYMENTS,
  JOBS,
  PODS,
  REPLICA_SETS,
  REPLICATION_CONTROLLERS,
  type ResourceType,
  SERVICES,
  STATEFUL_SETS,
} from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';

/** What a command is to happen in: a pod, or what has pods. */
export interface Target {
  type: ResourceType;
  name: string;
}

/** Kinds that say by a selector which pods are theirs. */
const WITH_PODS: readonly ResourceType[] = [
  PODS,
  DEPLOYMENTS,
  REPLICA_SETS,
  STATEFUL_SETS,
  DAEMON_SETS,
  JOBS,
  SERVICES,
  REPLICATION_CONTROLLERS,
];

/** Reads `POD` and `TYPE/NAME`, of the types that have pods, by any of kubectl's words for them. Throws as wrong usage. */
export function parseTarget(word: string): Target {
  const [first = '', name, ...more] = word.split('/');
  if (name === undefined) return requireName({ type: PODS, name: first }, word);
  const type = WITH_PODS.find((candidate) => wordsFor(candidate).includes(first.toLowerCase()));
  if (type !== undefined && more.length === 0) return requireName({ type, name }, word);
  const types = WITH_PODS.map(({ resource }) => resource).join(', ');
  throw new CommandError(
    `${JSON.stringify(word)} is neither a pod nor TYPE/NAME, where TYPE is one of ${types}`,
    EXIT.usage,
  );
}

function requireName(target: Target, word: string): Target {
  if (target.name !== '') return target;
  throw new CommandError(`${JSON.stringify(word)} has no name`, EXIT.usage);
}

function wordsFor(type: ResourceType): string[] {
  const known: BuiltinResource | undefined = BUILTIN_RESOURCES.find(
    ({ group, resource }) => group === type.group && resource === type.resource,
  );
  const words = [type.resource, type.kind.toLowerCase(), ...(known?.shortNames ?? [])];
  return [...words, ...words.map((word) => `${word}.${type.group}`)];
}
