import type { UserInfo } from '../contract/user-info.ts';
import type { Registry, WriteContext } from '../registry/registry.ts';
import type { ServedResource } from '../contract/served-resource.ts';

/** What every controller of the server gets. */
export interface ControllerOptions {
  registry: Registry;
  /** Who the controllers are in what they write. */
  user: UserInfo;
  signal: AbortSignal;
  /** Milliseconds since 1970. */
  clock: () => number;
  /** Told of work that failed and is tried again; `what` names the object. */
  onError(what: string, error: unknown): void;
}

/** A controller that runs until its signal. */
export interface Controller {
  /** Resolves when nothing is left to do for now. */
  settled(): Promise<void>;
}

export function writeContext({ user }: ControllerOptions, namespace?: string): WriteContext {
  return { user, namespace, fieldManager: 'kube-controller-manager' };
}

/** Every resource once, whatever versions it is served in, that can be listed and deleted. */
export function deletableResources(registry: Registry): ServedResource[] {
  const seen = new Set<string>();
  return registry.served().filter(({ type, verbs }) => {
    const key = `${type.resource}.${type.group}`;
    if (seen.has(key) || !verbs.includes('list') || !verbs.includes('delete')) return false;
    return seen.add(key);
  });
}
