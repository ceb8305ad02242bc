import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority, issueCertificate } from '@asterism/apiserver';
import { realBinary } from '../harness/real-binary.ts';
import type { LoadTarget } from '../load/load-message.ts';
import { ADMIN, type ServerUnderTest, startCost, USER } from './server-under-test.ts';
import { untilReady } from './until-ready.ts';

/**
 * Starts the real kube-apiserver with an etcd of its own: TLS with a key of the same kind as ours, tokens, RBAC, and all its
 * defaults but for the ServiceAccount admission, which needs kube-controller-manager and which ours does not have.
 *
 * @throws {MissingBinary} where there are no binaries.
 */
export async function startKubernetesServer(
  fsync: 'fsync' | 'no fsync',
  { signal }: { signal: AbortSignal },
): Promise<ServerUnderTest> {
  const programs = { etcd: realBinary('etcd'), server: realBinary('kube-apiserver') };
  const dir = await mkdtemp(join(tmpdir(), 'asterism-bench-'));
  const children: ChildProcess[] = [];
  const stop = async (): Promise<void> => {
    for (const child of children.toReversed()) await ended(child);
    await rm(dir, { recursive: true, force: true });
  };
  try {
    const tokens = { admin: randomUUID(), user: randomUUID() };
    const ca = await writeKeys(dir, tokens);
    const [clientPort, port] = await Promise.all([freePort(), freePort()]);
    const started = performance.now();
    children.push(start(programs.etcd, etcdFlags(dir, clientPort, fsync)));
    children.push(start(programs.server, serverFlags(dir, clientPort, port)));
    const admin: LoadTarget = { url: `https://127.0.0.1:${port}`, ca, token: tokens.admin };
    await Promise.race([untilReady(admin, signal), ...children.map(failed)]);
    const pids = children.map(({ pid }) => pid ?? 0);
    return {
      name: fsync === 'fsync' ? 'kube-apiserver + etcd' : 'kube-apiserver + etcd --unsafe-no-fsync',
      admin,
      user: { ...admin, token: tokens.user },
      pids,
      start: startCost(pids, started),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the authority's certificate. */
async function writeKeys(dir: string, tokens: { admin: string; user: string }): Promise<string> {
  const ca = await createCertificateAuthority({ commonName: 'bench-ca' });
  const tls = await issueCertificate(ca, {
    commonName: 'kube-apiserver',
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
    days: 1,
  });
  const serviceAccounts = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const line = (token: string, { username, groups }: typeof ADMIN): string =>
    `${token},${username},${username},"${groups.join(',')}"`;
  const files: Record<string, string> = {
    'tls.crt': tls.cert,
    'tls.key': tls.key,
    'sa.pub': serviceAccounts.publicKey,
    'sa.key': serviceAccounts.privateKey,
    'tokens.csv': `${line(tokens.admin, ADMIN)}\n${line(tokens.user, USER)}\n`,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text, { mode: 0o600 });
  return ca.cert;
}

function etcdFlags(dir: string, port: number, fsync: 'fsync' | 'no fsync'): string[] {
  const client = `http://127.0.0.1:${port}`;
  return [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    '--listen-peer-urls=http://127.0.0.1:0',
    '--log-level=error',
    ...(fsync === 'fsync' ? [] : ['--unsafe-no-fsync']),
  ];
}

function serverFlags(dir: string, etcdPort: number, port: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--insecure-port=0',
    `--cert-dir=${dir}`,
    `--tls-cert-file=${join(dir, 'tls.crt')}`,
    `--tls-private-key-file=${join(dir, 'tls.key')}`,
    `--token-auth-file=${join(dir, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-signing-key-file=${join(dir, 'sa.key')}`,
    `--service-account-key-file=${join(dir, 'sa.pub')}`,
    '--service-cluster-ip-range=10.0.0.0/24',
  ];
}

function start(program: string, flags: string[]): ChildProcess {
  const child = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  child.stderr?.setEncoding('utf8');
  return child;
}

/** Rejects with the end of what the program printed, when it ends by itself. Reads its output all the while. */
async function failed(child: ChildProcess): Promise<never> {
  let printed = '';
  child.stderr?.on('data', (text: string) => {
    printed = `${printed}${text}`.slice(-2_000);
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  throw new Error(`${child.spawnfile} ended (${code}):\n${printed}`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL'); // Its data goes with it.
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}
