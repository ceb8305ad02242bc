import type { KubeObject } from '@asterism/machinery';
import type { DeleteOptions } from '../../contract/delete-options.ts';

const META = 'meta.k8s.io/v1';

/** The options of a write as the client gave them, as admission webhooks are told. */
export function writeOptionsObject(query: URLSearchParams, operation: string): KubeObject {
  const [fieldManager, fieldValidation] = [query.get('fieldManager'), query.get('fieldValidation')];
  return {
    kind: operation === 'CREATE' ? 'CreateOptions' : 'UpdateOptions',
    apiVersion: META,
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
    ...(fieldManager ? { fieldManager } : {}),
    ...(fieldValidation ? { fieldValidation } : {}),
  };
}

/** The same of a deletion. */
export function deleteOptionsObject({ dryRun, ...options }: DeleteOptions & { dryRun: boolean }): KubeObject {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return {
    kind: 'DeleteOptions',
    apiVersion: META,
    ...Object.fromEntries(given),
    ...(dryRun ? { dryRun: ['All'] } : {}),
  };
}

const FLAGS = ['stdin', 'stdout', 'stderr', 'tty'];
const CONNECT_KINDS: Readonly<Record<string, string>> = {
  'pods/attach': 'PodAttachOptions',
  'pods/exec': 'PodExecOptions',
  'pods/portforward': 'PodPortForwardOptions',
  'pods/proxy': 'PodProxyOptions',
  'services/proxy': 'ServiceProxyOptions',
  'nodes/proxy': 'NodeProxyOptions',
};

/** What a connection is asked for with, as the object that admission sees; undefined for what is none (`pods/log`). */
export function connectOptionsObject(
  place: string,
  query: URLSearchParams,
  rest: string,
): (KubeObject & { kind: string }) | undefined {
  const kind = CONNECT_KINDS[place];
  if (kind === undefined) return undefined;
  const flags = FLAGS.filter((name) => query.get(name) === 'true' || query.get(name) === '1');
  const container = query.get('container');
  const ports = query.getAll('ports').flatMap((each) => each.split(',').map(Number));
  const isShell = kind === 'PodExecOptions' || kind === 'PodAttachOptions';
  return {
    kind,
    apiVersion: 'v1',
    ...(isShell ? Object.fromEntries(flags.map((name) => [name, true])) : {}),
    ...(isShell && container ? { container } : {}),
    ...(kind === 'PodExecOptions' && query.has('command') ? { command: query.getAll('command') } : {}),
    ...(kind === 'PodPortForwardOptions' && ports.length > 0 ? { ports } : {}),
    ...(place.endsWith('/proxy') && rest !== '' ? { path: rest.replace(/^\//, '') } : {}),
  };
}
