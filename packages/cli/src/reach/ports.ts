import { type Pod, type Service, SERVICES } from '@asterism/machinery';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Located } from './locate.ts';
import type { Target } from './target.ts';

/** A pair of `port-forward`, as the user wrote it: the other end may be a name. */
export interface PortPair {
  /** 0: any that is free. */
  local: number;
  remote: string;
}

const isPort = (text: string): boolean => /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 0xffff;

/** Reads `PORT`, `LOCAL:REMOTE` and `:REMOTE`. Throws as wrong usage. */
export function parsePortPair(text: string): PortPair {
  const [first = '', second, ...more] = text.split(':');
  const remote = second ?? first;
  const local = second === undefined && !isPort(first) ? '' : first;
  const isRemote = isPort(remote) || /^(?=.*[a-z])[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$/.test(remote);
  if (more.length > 0 || !isRemote || !(local === '' || local === '0' || isPort(local))) {
    throw new CommandError(
      `${JSON.stringify(text)} is none of PORT, LOCAL:REMOTE and :REMOTE; ports are numbers from 1 to 65535, REMOTE may be a name`,
      EXIT.usage,
    );
  }
  return { local: Number(local), remote };
}

/** The port of the pod that is meant: one of a Service leads to its target, a name is looked up among the pod's. */
export function remotePort(
  { type }: Target,
  { object, pods: [pod] }: Pick<Located, 'object' | 'pods'>,
  remote: string,
): number {
  if (type.resource === SERVICES.resource) return throughService(object as Service, pod, remote);
  return isPort(remote) ? Number(remote) : portOfName(pod, remote);
}

function throughService({ metadata, spec }: Service, pod: Pod, remote: string): number {
  const port = (spec?.ports ?? []).find((each) =>
    isPort(remote) ? each.port === Number(remote) : each.name === remote,
  );
  const name = metadata?.name ?? '';
  if (port === undefined) {
    const ports = (spec?.ports ?? []).map((each) => (each.name ? `${each.port} (${each.name})` : String(each.port)));
    throw new CommandError(`service ${name} has no port ${remote}: it has ${ports.join(', ') || 'none'}`);
  }
  // A headless one leads straight to its pods: there is nothing that would translate.
  if (spec?.clusterIP === 'None' && isPort(remote)) return Number(remote);
  const target = port.targetPort ?? port.port;
  if (typeof target === 'string' && !isPort(target)) return portOfName(pod, target);
  return Number(target) === 0 ? port.port : Number(target);
}

function portOfName({ metadata, spec }: Pod, name: string): number {
  const ports = (spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  const port = ports.find((each) => each.name === name)?.containerPort;
  if (port !== undefined) return port;
  const named = ports.flatMap((each) => (each.name ? [each.name] : []));
  throw new CommandError(
    `pod ${metadata?.name ?? ''} has no port ${JSON.stringify(name)}: it has ${named.join(', ') || 'none with a name'}`,
  );
}
