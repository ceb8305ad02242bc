// Runs beside other tests: it waits for `aster` processes.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Client, type Connection, createClient, createTransport, loadKubeconfig } from '@asterism/client';
import { AGENT_SERVICE_ACCOUNT, CLUSTERS, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import { createBootstrapToken, memberManifests } from '@asterism/fleet/join';
import { isConditionTrue, type KubeObject, SECRETS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { silentLogger } from '@asterism/runtime';
import { type Member, startMember } from '@asterism/sim';
import { connectionOf } from '../cluster/connection-of.ts';
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from '../../packages/cli/src/testing/hub-certificates.ts';
import { AsterService } from './aster-service.ts';
import { eventually, temporaryDataDir } from './aster-up.ts';

/** As the contract of a service says. */
const STOPS_WITHIN_MS = 3_000;

const parts = new AsyncDisposableStack();
let dir: string;
let service: AsterService;
let url: string;
/** As the hub's administrator. */
let hub: Client;
/** The token, and the pin of the hub, as `aster token create -o json` tells them. */
let told: { token: string; hubCaPin: string; hubCa: string };

before(async () => {
  dir = parts.use(await temporaryDataDir()).path;
  service = parts.use(new AsterService(['hub', '--data-dir', join(dir, 'hub'), '--listen', '127.0.0.1:0']));
  const modes = { 'edge-1': 'Pull', 'edge-2': 'Push', 'edge-3': 'Push' } as const;
  const members = Promise.all(Object.entries(modes).map(([name, mode]) => startSimulated(name, mode)));
  url = (await service.prints(/^ready (https:\/\/\S+)$/m))[1] ?? '';
  hub = clientOf(await connectionOf(join(dir, 'hub', 'kubeconfig')));
  const json = await run(['token', 'create', '--auto-approve', '--cluster', 'edge-1', '-o', 'json']);
  assert.equal(json.code, 0, json.stderr);
  told = JSON.parse(json.stdout) as typeof told;
  await members;
});

after(() => parts.disposeAsync());

function clientOf(connection: Connection): Client {
  const transport = createTransport(connection);
  parts.defer(() => transport.close());
  return createClient({ transport, userAgent: 'test' });
}

/** A simulated member, and `NAME.kubeconfig` with the service account of its agent, whose token is in a file beside it. */
async function startSimulated(name: string, syncMode: 'Push' | 'Pull'): Promise<void> {
  const member = await startMember({
    name,
    dataDir: join(dir, name),
    listen: { host: '127.0.0.1', port: 0 },
    nodes: [{ name: `${name}-1`, cpu: '8', memory: '32Gi', pods: 110 }],
    manifests: memberManifests({ syncMode }),
    logger: silentLogger,
  });
  parts.use(member);
  await writeFile(join(dir, `${name}.token`), await serviceAccountToken(member), { mode: 0o600 });
  await writeKubeconfig(name, member.url, member.admin.caData ?? '');
}

async function serviceAccountToken(member: Member): Promise<string> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} };
  const ref = { namespace: SYSTEM_NAMESPACE, name: AGENT_SERVICE_ACCOUNT, subresource: 'token' };
  const answer: KubeObject = await clientOf(member.admin).resource(SERVICE_ACCOUNTS).create(request, ref);
  return (answer['status'] as { token: string }).token;
}

async function writeKubeconfig(name: string, server: string, ca: string): Promise<void> {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const kubeconfig = {
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster }],
    users: [{ name, user: { tokenFile: `${name}.token` } }],
  };
  await writeFile(join(dir, `${name}.kubeconfig`), JSON.stringify(kubeconfig));
}

const environment = (more: Record<string, string> = {}) => ({
  cwd: dir,
  env: { ...process.env, KUBECONFIG: join(dir, 'hub', 'kubeconfig'), ...more },
});

/** A command that ends by itself; one that does not is told to. */
async function run(args: readonly string[], more: Record<string, string> = {}) {
  await using command = new AsterService(args, { ...environment(more), timeout: 60_000 });
  const code = await command.exit();
  return { code, stdout: command.stdout, stderr: command.stderr };
}

const agentFlags = (name: string, mode: string, ca: string, server = url) =>
  `agent --kubeconfig ${name}.kubeconfig --name ${name} --mode ${mode} --hub ${server} --hub-ca ${ca}`.split(' ');

/** One line that says what, where and what to do behind the log; no stack. */
function assertExplained(outcome: { code: number | null; stderr: string }, message: RegExp, code = 1): void {
  assert.equal(outcome.code, code, outcome.stderr);
  const lines = outcome.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
  assert.equal(lines.length, 1, outcome.stderr);
  assert.match(lines[0] ?? '', message);
}

const isReady = async (name: string) => {
  const { status } = await hub.resource(CLUSTERS).get({ name });
  assert.ok(isConditionTrue(status?.conditions, 'Ready'), JSON.stringify(status?.conditions));
};

test('token create: the command for the other side on stdout, what there is to know on stderr', async () => {
  const { code, stdout, stderr } = await run(['token', 'create', '--ttl', '15m']);
  assert.equal(code, 0, stderr);
  const command =
    /^aster join --hub https:\S+ --token ([a-z0-9]{6})\.([a-z0-9]{16}) --ca-hash sha256:[0-9a-f]{64} --name NAME\n$/;
  const [, id = '', secret = ''] = command.exec(stdout) ?? [];
  assert.ok(id && !stderr.includes(secret), stdout + stderr);
  assert.match(stderr, /aster approve NAME/);
  assert.match(stderr, /leads to this machine alone/);
  const { data = {} } = await hub.resource(SECRETS).get({ namespace: 'kube-system', name: `bootstrap-token-${id}` });
  const read = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  assert.equal(read('token-secret'), secret);
  assert.equal(read('auth-extra-groups'), 'system:bootstrappers:asterism:register');
  const minutes = (Date.parse(read('expiration')) - Date.now()) / 60_000;
  assert.ok(minutes > 13 && minutes < 16, String(minutes));
});

test('before it has joined: what keeps a cluster from it is one line, and an end', async (t) => {
  const expired = await createBootstrapToken(hub, { ttl: -60_000, autoApprove: true });
  const otherPin = `sha256:${'0'.repeat(64)}`;
  const pull = (ca: string) => agentFlags('edge-2', 'pull', ca);
  await Promise.all([
    t.test('no token', async () => {
      assertExplained(await run(pull(told.hubCaPin)), /no bootstrap token.*--token-file or \$ASTERISM_TOKEN/);
      assertExplained(await run([...pull(told.hubCaPin), '--token-file', 'gone']), /there is no file gone/);
    }),
    t.test('a token that has expired', async () => {
      const { code, stderr } = await run(pull(told.hubCaPin), { ASTERISM_TOKEN: expired.token });
      assertExplained({ code, stderr }, /does not take the bootstrap token: it is wrong, expired or revoked/);
      assert.ok(!stderr.includes(expired.token.slice(7)));
    }),
    t.test('the pin of another hub', async () => {
      const outcome = await run(pull(otherPin), { ASTERISM_TOKEN: told.token });
      assertExplained(
        outcome,
        new RegExp(`is not the hub that the pin ${otherPin} names: it presents .*${told.hubCaPin}`),
      );
    }),
    t.test('a kubeconfig that cannot be read', async () => {
      const outcome = await run(['agent', '--kubeconfig', dir, ...pull(told.hubCaPin).slice(3)]);
      assertExplained(outcome, new RegExp(`cannot read the kubeconfig ${dir}: EISDIR`));
    }),
    t.test('an API server that the kubeconfig does not vouch for', async () => {
      const { clusters } = await loadKubeconfig(join(dir, 'edge-2.kubeconfig'));
      await writeKubeconfig('stranger', clusters[0]?.cluster.server ?? '', told.hubCa);
      await writeFile(join(dir, 'stranger.token'), 'x');
      const outcome = await run(agentFlags('stranger', 'pull', told.hubCaPin));
      assertExplained(outcome, /what answers as the agent's own API server is not .*Check the address, the CA/);
    }),
    t.test('wrong usage', async () => {
      assertExplained(await run(['agent', '--mode', 'pul']), /--mode: "pul"/, 2);
      const unknown = await run(['hub', '--listne', ':0']);
      assert.equal(unknown.code, 2);
      assert.match(unknown.stderr, /unknown option '--listne'/);
    }),
  ]);
});

test('an agent joins the cluster; SIGKILL and a token that is gone change nothing', async () => {
  await writeFile(join(dir, 'token'), `${told.token}\n`, { mode: 0o600 });
  const words = [...agentFlags('edge-1', 'pull', told.hubCaPin), '--token-file', 'token'];
  await using first = new AsterService(words, environment());
  await first.prints(/^ready edge-1$/m);
  await isReady('edge-1');
  assert.equal(first.stdout, 'ready edge-1\n');
  assert.equal(first.logLines().length, first.stderr.trimEnd().split('\n').length, first.stderr);
  assert.ok(!first.stderr.includes(told.token));
  const { metadata: joined } = await hub.resource(CLUSTERS).get({ name: 'edge-1' });
  await first.stop('SIGKILL');
  await rm(join(dir, 'token'));

  await using second = new AsterService(words, environment());
  // A reader that goes away is no reason to stop.
  second.process.stderr?.destroy();
  await second.prints(/^ready edge-1$/m);
  await isReady('edge-1');
  assert.equal((await hub.resource(CLUSTERS).get({ name: 'edge-1' })).metadata?.uid, joined?.uid);
  const begun = Date.now();
  assert.equal(await second.stop(), 0);
  assert.ok(Date.now() - begun < STOPS_WITHIN_MS, `${Date.now() - begun} ms`);
});

test('a hub that is away is waited for; then Push, at the address of the kubeconfig', async () => {
  const { token } = await createBootstrapToken(hub, { autoApprove: true });
  // As the hub's address, with nobody behind it yet.
  const forward = createServer((socket) => {
    const behind = connect(Number(new URL(url).port), '127.0.0.1');
    for (const [from, to] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    }
  });
  await once(forward.listen(0, '127.0.0.1'), 'listening');
  const { port } = forward.address() as AddressInfo;
  forward.close();
  await writeFile(join(dir, 'hub-ca.crt'), told.hubCa);
  const words = agentFlags('edge-2', 'Push', 'hub-ca.crt', `https://127.0.0.1:${port}`);
  await using agent = new AsterService(words, environment({ ASTERISM_TOKEN: token }));
  assert.match((await agent.logs('waiting to join')).reason ?? '', /the hub does not answer: .*ECONNREFUSED/);
  forward.listen(port, '127.0.0.1');
  try {
    await agent.prints(/^ready edge-2$/m);
    await eventually(() => isReady('edge-2'));
    const { spec } = await hub.resource(CLUSTERS).get({ name: 'edge-2' });
    const kubeconfig = await loadKubeconfig(join(dir, 'edge-2.kubeconfig'));
    assert.equal(spec.connection?.apiEndpoint, kubeconfig.clusters[0]?.cluster.server);
    assert.equal(await agent.stop('SIGINT'), 0);
  } finally {
    forward.close();
  }
});

test('Push through an endpoint whose certificate is of another authority', async () => {
  const { token } = await createBootstrapToken(hub, { autoApprove: true });
  const kubeconfig = await loadKubeconfig(join(dir, 'edge-3.kubeconfig'));
  const { server = '' } = kubeconfig.clusters[0]?.cluster ?? {};
  // As a load balancer that ends TLS, with a certificate of its own.
  const balancer = createTlsServer({ cert: SERVER_CERT, key: SERVER_KEY }, (socket) => {
    const behind = connectTls({ port: Number(new URL(server).port), host: '127.0.0.1', rejectUnauthorized: false });
    socket.pipe(behind).pipe(socket);
    for (const end of [socket, behind])
      end.on('error', () => {}).on('close', () => [socket, behind].map((each) => each.destroy()));
  });
  await once(balancer.listen(0, '127.0.0.1'), 'listening');
  const endpoint = `https://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
  await writeFile(join(dir, 'balancer.crt'), AUTHORITY);
  const words = [
    ...agentFlags('edge-3', 'push', told.hubCaPin),
    '--endpoint',
    endpoint,
    '--endpoint-ca',
    'balancer.crt',
  ];
  await using agent = new AsterService(words, environment({ ASTERISM_TOKEN: token }));
  try {
    await agent.prints(/^ready edge-3$/m);
    await eventually(() => isReady('edge-3'));
    assert.equal((await hub.resource(CLUSTERS).get({ name: 'edge-3' })).spec.connection?.apiEndpoint, endpoint);
    // It is the member that says no: the hub found it, and nobody gave its administrator rights there.
    const { stderr } = await run(['get', 'nodes', '-C', 'edge-3']);
    assert.match(stderr, /^edge-3: .*nodes is forbidden: User "admin" cannot list/);
    assert.equal(await agent.stop(), 0);
  } finally {
    balancer.close();
  }
});

test('a cluster that has joined is told so where its agent is given the name of another', async () => {
  const { token } = await createBootstrapToken(hub, { autoApprove: true });
  await writeFile(join(dir, 'again.kubeconfig'), await readFile(join(dir, 'edge-3.kubeconfig')));
  const words = agentFlags('again', 'pull', told.hubCaPin).map((word, at, all) =>
    all[at - 1] === '--name' ? 'edge-1' : word,
  );
  const { code, stderr } = await run(words, { ASTERISM_TOKEN: token });
  assertExplained({ code, stderr }, /this cluster has joined the hub \S+ as "edge-3": start its agent with that name/);
});

test('what never answers keeps nobody who is told to stop, once or twice', async () => {
  // As a firewall that drops everything.
  const silent = createServer(() => {});
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const address = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  await writeFile(join(dir, 'silent.token'), 'x');
  await writeKubeconfig('silent', address, told.hubCa);
  const hanging = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', 'setTimeout(() => {}, 30_000)'],
  };
  const { clusters, contexts } = await loadKubeconfig(join(dir, 'silent.kubeconfig'));
  await writeFile(
    join(dir, 'plugin.kubeconfig'),
    JSON.stringify({
      'current-context': 'silent',
      clusters,
      contexts,
      users: [{ name: 'silent', user: { exec: hanging } }],
    }),
  );
  const stdin = [...agentFlags('silent', 'pull', told.hubCaPin), '--token-file', '-'];
  const hubFlags = ['hub', '--kubeconfig', 'silent.kubeconfig', '--listen', '127.0.0.1:0', '--data-dir', 'silent'];
  try {
    for (const [words, isUp] of [
      [agentFlags('silent', 'pull', told.hubCaPin), (service) => service.logs('starting')],
      [agentFlags('plugin', 'pull', told.hubCaPin), (service) => service.logs('starting')],
      [stdin, (service) => service.logs('waiting for the bootstrap token on stdin')],
      [hubFlags, () => once(silent, 'connection')],
    ] as [string[], (service: AsterService) => Promise<unknown>][]) {
      await using service = new AsterService(words, { ...environment(), stdio: ['pipe', 'pipe', 'pipe'] });
      await isUp(service);
      const begun = Date.now();
      service.process.kill('SIGINT');
      assert.equal(await service.stop('SIGINT'), 0, service.stderr);
      assert.ok(Date.now() - begun < STOPS_WITHIN_MS, `${words.join(' ')}: ${Date.now() - begun} ms`);
    }
  } finally {
    silent.close();
  }
});

test('an API server of its own that is away is waited for too, until the agent is told to stop', async () => {
  await writeFile(join(dir, 'nowhere.token'), 'x');
  await writeKubeconfig('nowhere', 'https://127.0.0.1:1', told.hubCa);
  await using agent = new AsterService(agentFlags('nowhere', 'pull', told.hubCaPin), environment());
  assert.match((await agent.logs('waiting to join')).reason ?? '', /own API server does not answer: .*127\.0\.0\.1:1/);
  const begun = Date.now();
  assert.equal(await agent.stop(), 0);
  assert.ok(Date.now() - begun < STOPS_WITHIN_MS, `${Date.now() - begun} ms`);
});

const skip = process.platform === 'linux' ? false : 'no /dev/full';
test('a hub with nowhere left to write its log serves; an agent does not take it for its own', { skip }, async () => {
  const full = await open('/dev/full', 'w');
  const data = join(dir, 'other');
  const flags = ['hub', '--data-dir', data, '--listen', '127.0.0.1:0'];
  await using other = new AsterService(flags, { ...environment(), stdio: ['ignore', full.fd, full.fd] });
  await full.close();
  await eventually(() => stat(join(data, 'kubeconfig')).then(() => {}));
  assert.equal((await stat(join(data, 'kubeconfig'))).mode & 0o777, 0o600);
  const connection = await connectionOf(join(data, 'kubeconfig'));
  const outcome = await run(agentFlags('edge-1', 'pull', told.hubCaPin, connection.server));
  assertExplained(outcome, /is not the hub that the CA vouches for .*Check the address and the CA/);
  await clientOf(connection).version();
  assert.equal(await other.stop(), 0);
});

test('the hub ends with 0 when it is told to stop, its log JSON lines', async () => {
  assert.equal(await service.stop(), 0);
  assert.equal(service.stdout, `ready ${url}\n`);
  assert.equal(service.logLines().length, service.stderr.trimEnd().split('\n').length);
  assert.doesNotMatch(service.stderr, /PRIVATE KEY|\b[a-z0-9]{6}\.[a-z0-9]{16}\b/);
  assert.doesNotMatch(await readFile(join(dir, 'hub', 'kubeconfig'), 'utf8'), /^\s*token:/m);
});
