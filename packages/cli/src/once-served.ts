import { type Client, type Clock, sleep, systemClock } from '@asterism/client';
import { isNotFound, type KubeObject, parseApiVersion, type ResourceType } from '@asterism/machinery';

/** A kube-apiserver serves a new kind within a second; one of several behind a balancer, 5 s later. */
const WAIT_MS = 10_000;
const LOOK_MS = 100;

/**
 * The type of an object. Where one of `applied` defines it, its server may still be about to serve it: that is waited for.
 *
 * @throws 404 for a kind that is not served, at once where nothing applied defines it, else after 10 s.
 */
export async function typeOnceServed(
  client: Pick<Client, 'discovery'>,
  object: KubeObject,
  applied: readonly KubeObject[],
  clock: Clock = systemClock,
): Promise<ResourceType> {
  const until = clock.monotonic() + WAIT_MS;
  for (;;) {
    try {
      return await client.discovery.typeFor(object);
    } catch (error) {
      const mayCome = isNotFound(error) && applied.some((definition) => defines(definition, object));
      if (!mayCome || clock.monotonic() >= until) throw error;
    }
    await sleep(clock, LOOK_MS);
    client.discovery.refresh();
  }
}

interface Definition {
  group?: string;
  names?: { kind?: string };
}

function defines({ kind, spec }: KubeObject, object: KubeObject): boolean {
  if (kind !== 'CustomResourceDefinition') return false;
  const { group, names } = (spec ?? {}) as Definition;
  return group === parseApiVersion(object.apiVersion ?? '').group && names?.kind === object.kind;
}
