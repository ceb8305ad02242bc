import { parseJson } from '@asterism/machinery';
import { measureJson } from '../bounded/check-json.ts';
import { READ_LIMITS } from '../bounded/read-limits.ts';
import type { Clock } from '../clock.ts';
import { ClientError } from '../client-error.ts';
import type { Connection } from '../connection.ts';
import type { ExecConfig } from './kubeconfig.ts';

/** What a plugin gave: a token, a client certificate, or both. */
export interface ExecCredential {
  token?: string;
  cert?: string;
  key?: string;
  /** Milliseconds since the epoch; undefined: until the server refuses it. */
  expires?: number;
}

const API_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** A credential is renewed this long before it expires, so that none runs out on its way. */
const RENEW_BEFORE_MS = 10_000;

/**
 * Runs credential plugins and keeps what they gave until it expires or is refused.
 *
 * Credentials are kept by the *whole* identity (command, arguments, environment and, if the plugin is told of it, the
 * cluster), never by a user's name: two kubeconfigs that both say "admin" must not swap credentials. Requests that need the
 * same one at the same time wait for one run.
 */
export class ExecCredentialCache {
  readonly #clock: Clock;
  readonly #kept = new Map<string, Promise<ExecCredential>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async get(exec: ExecConfig, connection: Connection): Promise<ExecCredential> {
    const key = identityOf(exec, connection);
    for (;;) {
      const kept = this.#kept.get(key);
      if (!kept) return this.#run(key, exec, connection);
      const credential = await kept;
      if (!this.#isStale(credential)) return credential;
      if (this.#kept.get(key) === kept) this.#kept.delete(key);
    }
  }

  #run(key: string, exec: ExecConfig, connection: Connection): Promise<ExecCredential> {
    const run = runPlugin(exec, connection);
    this.#kept.set(key, run);
    run.catch(() => {
      if (this.#kept.get(key) === run) this.#kept.delete(key);
    });
    return run;
  }

  /** Drops `refused`, if it is still the one kept. */
  async drop(exec: ExecConfig, connection: Connection, refused: ExecCredential): Promise<void> {
    const key = identityOf(exec, connection);
    const kept = this.#kept.get(key);
    if (kept && (await kept.catch(() => undefined)) === refused && this.#kept.get(key) === kept) this.#kept.delete(key);
  }

  #isStale({ expires }: ExecCredential): boolean {
    return expires !== undefined && expires - RENEW_BEFORE_MS <= this.#clock.wall().getTime();
  }
}

function identityOf(exec: ExecConfig, connection: Connection): string {
  return JSON.stringify([
    exec.apiVersion,
    exec.command,
    exec.args ?? [],
    exec.env ?? [],
    exec.provideClusterInfo ? clusterInfo(connection) : null,
  ]);
}

function clusterInfo(connection: Connection): object {
  const { server, caData, tlsServerName, insecureSkipTlsVerify, proxyUrl } = connection;
  return {
    server,
    ...(caData ? { 'certificate-authority-data': Buffer.from(caData).toString('base64') } : {}),
    ...(tlsServerName ? { 'tls-server-name': tlsServerName } : {}),
    ...(insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
    ...(proxyUrl ? { 'proxy-url': proxyUrl } : {}),
  };
}

async function runPlugin(exec: ExecConfig, connection: Connection): Promise<ExecCredential> {
  if (!API_VERSIONS.includes(exec.apiVersion)) {
    throw failed(exec, `its apiVersion ${exec.apiVersion} is not one of ${API_VERSIONS.join(', ')}`);
  }
  if (exec.interactiveMode === 'Always') throw failed(exec, 'it wants a terminal (interactiveMode: Always)');
  const info = {
    apiVersion: exec.apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(exec.provideClusterInfo ? { cluster: clusterInfo(connection) } : {}) },
  };
  const env = { ...process.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) } as Record<string, string>;
  for (const { name, value } of exec.env ?? []) env[name] = value;
  const { execFile } = await import('node:child_process');
  const output = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      exec.command,
      exec.args ?? [],
      { env, maxBuffer: READ_LIMITS.credential.maxBytes },
      (error, stdout, stderr) => {
        if (!error) return resolve(stdout);
        const why =
          (error as NodeJS.ErrnoException).code === 'ENOENT'
            ? `the program is not there. ${exec.installHint ?? ''}`
            : `it ended with ${error.code ?? error.signal}: ${stderr.trim().slice(-300)}`;
        reject(failed(exec, why.trim()));
      },
    );
    child.stdin?.end();
  });
  return readOutput(exec, output);
}

/** Never quotes the output: it is a secret. */
function readOutput(exec: ExecConfig, output: string): ExecCredential {
  const { maxDepth, maxItems } = READ_LIMITS.credential;
  const { depth, items } = measureJson(Buffer.from(output), READ_LIMITS.credential);
  if (depth > maxDepth || items > maxItems) throw failed(exec, 'it printed JSON with too many levels or values');
  let answer: { apiVersion?: unknown; kind?: unknown; status?: Record<string, unknown> };
  try {
    answer = parseJson(output) as typeof answer;
  } catch {
    throw failed(exec, 'it did not print JSON');
  }
  if (answer?.kind !== 'ExecCredential' || answer.apiVersion !== exec.apiVersion) {
    throw failed(exec, `it did not print an ExecCredential of ${exec.apiVersion}`);
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = answer.status ?? {};
  const credential: ExecCredential = {};
  if (typeof token === 'string' && token !== '') credential.token = token;
  if (typeof cert === 'string' && typeof key === 'string') Object.assign(credential, { cert, key });
  if (!credential.token && !credential.cert)
    throw failed(exec, 'it gave neither a token nor a certificate with its key');
  if (typeof expirationTimestamp === 'string') {
    const expires = Date.parse(expirationTimestamp);
    if (Number.isNaN(expires)) throw failed(exec, 'its expirationTimestamp is not a time');
    credential.expires = expires;
  }
  return credential;
}

function failed(exec: ExecConfig, why: string): ClientError {
  return new ClientError(`credential plugin ${exec.command}: ${why}`, { code: 'ERR_EXEC_CREDENTIAL' });
}
