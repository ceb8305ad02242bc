import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { parseJson } from '@asterism/machinery';
import { ClientError } from '../client-error.ts';

/** A program that gives credentials (`client.authentication.k8s.io`), as a kubeconfig describes it. */
export interface ExecConfig {
  apiVersion: string;
  command: string;
  args?: string[] | null;
  env?: { name: string; value: string }[] | null;
  installHint?: string;
  provideClusterInfo?: boolean;
  interactiveMode?: 'Never' | 'IfAvailable' | 'Always';
}

export interface KubeconfigCluster {
  server: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'tls-server-name'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'proxy-url'?: string;
}

export interface KubeconfigUser {
  token?: string;
  tokenFile?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  username?: string;
  password?: string;
  exec?: ExecConfig;
  'auth-provider'?: { name: string };
  as?: string;
  'as-uid'?: string;
  'as-groups'?: string[];
  'as-user-extra'?: Record<string, string[]>;
}

export interface KubeconfigContext {
  cluster: string;
  user: string;
  namespace?: string;
}

/** A kubeconfig file, in the file's own shape. */
export interface Kubeconfig {
  apiVersion?: string;
  kind?: string;
  'current-context'?: string;
  clusters: { name: string; cluster: KubeconfigCluster }[];
  users: { name: string; user: KubeconfigUser }[];
  contexts: { name: string; context: KubeconfigContext }[];
}

/** Rejects with a `ClientError` (`ERR_KUBECONFIG`) that says what is wrong where. Paths in it stay as they are. */
export function parseKubeconfig(text: string): Promise<Kubeconfig> {
  return parse(text, 'kubeconfig');
}

/** The files that {@link loadKubeconfig} reads: `path`, or else those of `$KUBECONFIG`, or else `~/.kube/config`. */
export function kubeconfigPaths(path?: string): string[] {
  if (path !== undefined) return [path];
  const listed = listedPaths();
  return listed.length > 0 ? listed : [join(homedir(), '.kube', 'config')];
}

function listedPaths(): string[] {
  return (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((entry) => entry !== '');
}

/**
 * Reads a file; without a path the files of `$KUBECONFIG`, merged as kubectl merges them (the first to say something wins), or
 * `~/.kube/config`. Relative paths inside become absolute, from their file's folder.
 */
export async function loadKubeconfig(path?: string): Promise<Kubeconfig> {
  if (path !== undefined) return readKubeconfig(path);
  const listed = listedPaths();
  if (listed.length === 0) return readKubeconfig(join(homedir(), '.kube', 'config'));
  const found: Kubeconfig[] = [];
  for (const entry of listed) {
    try {
      found.push(await readKubeconfig(entry));
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'ENOENT') throw error;
    }
  }
  if (found.length === 0) {
    throw new ClientError(`none of the files of $KUBECONFIG exists: ${listed.join(', ')}`, { code: 'ENOENT' });
  }
  return found.reduce(merge);
}

function merge(first: Kubeconfig, second: Kubeconfig): Kubeconfig {
  const current = first['current-context'] || second['current-context'];
  return {
    ...first,
    ...(current ? { 'current-context': current } : {}),
    clusters: mergeNamed(first.clusters, second.clusters),
    users: mergeNamed(first.users, second.users),
    contexts: mergeNamed(first.contexts, second.contexts),
  };
}

function mergeNamed<T extends { name: string }>(first: readonly T[], second: readonly T[]): T[] {
  const names = new Set(first.map(({ name }) => name));
  return [...first, ...second.filter(({ name }) => !names.has(name))];
}

async function readKubeconfig(path: string): Promise<Kubeconfig> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    const { code = 'ERR_KUBECONFIG', message } = cause as NodeJS.ErrnoException;
    throw new ClientError(`cannot read the kubeconfig ${path}: ${message}`, { code, cause });
  }
  const kubeconfig = await parse(text, path);
  const folder = dirname(resolve(path));
  for (const { cluster } of kubeconfig.clusters) absolute(cluster, 'certificate-authority', folder);
  for (const { name, user } of kubeconfig.users) {
    if (user.exec && typeof user.exec.command !== 'string') {
      throw broken(path, `user "${name}" has an exec without a command`);
    }
    absolute(user, 'client-certificate', folder);
    absolute(user, 'client-key', folder);
    absolute(user, 'tokenFile', folder);
    // A command with a slash is a path; one without is looked up in $PATH.
    if (user.exec?.command.includes('/')) user.exec.command = resolve(folder, user.exec.command);
  }
  return kubeconfig;
}

function absolute<K extends string>(holder: { [key in K]?: string }, key: K, folder: string): void {
  const value = holder[key];
  if (value) holder[key] = resolve(folder, value);
}

async function parse(text: string, where: string): Promise<Kubeconfig> {
  const document = await parseDocument(text, where);
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw broken(where, 'it is not a mapping');
  }
  const source = document as Record<string, unknown>;
  if (source['kind'] !== undefined && source['kind'] !== 'Config') {
    throw broken(where, `kind is ${JSON.stringify(source['kind'])}, not "Config"`);
  }
  return {
    ...source,
    clusters: named(source, 'clusters', 'cluster', where),
    users: named(source, 'users', 'user', where),
    contexts: named(source, 'contexts', 'context', where),
  } as Kubeconfig;
}

async function parseDocument(text: string, where: string): Promise<unknown> {
  try {
    if (text.trimStart().startsWith('{')) return parseJson(text);
    const yaml = await import('yaml');
    return yaml.parse(text, { prettyErrors: false });
  } catch (cause) {
    // The parser's own message may quote the line, and with it a token.
    throw new ClientError(`${where} is neither YAML nor JSON`, { code: 'ERR_KUBECONFIG', cause: withoutText(cause) });
  }
}

function withoutText(cause: unknown): unknown {
  const { code, pos } = cause as { code?: string; pos?: readonly number[] };
  return code === undefined ? undefined : { code, pos };
}

function named(source: Record<string, unknown>, list: string, entry: string, where: string): unknown[] {
  const values = source[list] ?? [];
  if (!Array.isArray(values)) throw broken(where, `${list} is not a list`);
  for (const [index, value] of values.entries()) {
    const { name, [entry]: content } = (value ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string') throw broken(where, `${list}[${index}] has no name`);
    if (typeof content !== 'object' || content === null) throw broken(where, `${list}[${index}] has no ${entry}`);
  }
  return values;
}

function broken(where: string, why: string): ClientError {
  return new ClientError(`${where} is not a kubeconfig: ${why}`, { code: 'ERR_KUBECONFIG' });
}
