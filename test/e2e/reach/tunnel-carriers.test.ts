import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { AUTHORITY, type ConnectProxy, startConnectProxy } from '@asterism/client/testing';
import { memberProxyPath } from '@asterism/fleet/api';
import { isConditionTrue, type Pod, PODS } from '@asterism/machinery';
import { connectionOf } from '../../cluster/connection-of.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import { joinMember, type Member, openHub, type OpenHub } from '../../cluster/fleet.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { Lab } from '../../cluster/lab.ts';
import { BUSYBOX_IMAGE, unlessNodes } from '../../cluster/node-assets.ts';
import { RealNode } from '../../cluster/real-node.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';
import { WebSocketGateway } from '../../cluster/websocket-gateway.ts';
import { eventually } from '../../demo/aster-up.ts';

const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20') || unlessNodes();

/** A name of the API server that resolves nowhere here: a proxy alone finds it. */
const HUB_NAME = 'kubernetes.default.svc';
const PASSWORD = 'p@ss:w/rd %41';
const ATTACH = /\/clusters\/cedar\/attach$/;

/**
 * A hub on a real kube-apiserver, and two real members in networks that nobody dials into, each with a proxy for its only way out. That of
 * `birch` is spoken to over TLS and wants a password. Behind that of `cedar`, before the hub, stands a gateway that ends TLS and lets no
 * upgrade pass but WebSocket's.
 */
describe('a tunnel through what stands between agent and hub', { skip }, () => {
  const parts = new AsyncDisposableStack();
  let run: RunFolder;
  let host: KubernetesHub;
  let hub: OpenHub;
  let proxies: { birch: ConnectProxy; cedar: ConnectProxy };
  let gateway: WebSocketGateway;
  const members = new Map<string, Member<string>>();

  before(async () => {
    run = parts.use(await RunFolder.open());
    const starting = [
      KubernetesHub.start(run).then((started) => parts.use(started)),
      startMember('birch'),
      startMember('cedar'),
    ] as const;
    await Promise.allSettled(starting);
    const [started, birch, cedar] = await Promise.all(starting);
    host = started;
    hub = await openHub(run, host, parts);
    gateway = parts.use(await WebSocketGateway.start(host.host, HUB_NAME));
    proxies = {
      birch: parts.use(await startConnectProxy({ secure: true, credential: `edge:${PASSWORD}` })),
      cedar: parts.use(await startConnectProxy()),
    };
    const { birch: wantsPassword, cedar: open } = proxies;
    await Promise.all([birch.lab.openWayOut(wantsPassword.port), cedar.lab.openWayOut(open.port)]);
    const authority = join(run.path, 'proxy-ca.crt');
    await writeFile(authority, AUTHORITY);
    const { port } = new URL(hub.address);
    const shared = { run, hub, parts, mode: 'pull' } as const;
    const joining = [
      joinMember({
        ...shared,
        ...birch,
        name: 'birch',
        hubAddress: `https://${HUB_NAME}:${port}`,
        environment: {
          HTTPS_PROXY: `https://edge:${encodeURIComponent(PASSWORD)}@127.0.0.1:${wantsPassword.port}`,
          NODE_EXTRA_CA_CERTS: authority,
          NO_PROXY: 'svc.example,10.0.0.0/8',
        },
      }),
      joinMember({
        ...shared,
        ...cedar,
        name: 'cedar',
        hubAddress: `https://${HUB_NAME}:${gateway.port}`,
        environment: { all_proxy: `127.0.0.1:${open.port}`, NO_PROXY: '' },
      }),
    ];
    await Promise.allSettled(joining);
    for (const member of await Promise.all(joining)) members.set(member.name, member);
  });

  after(() => parts.disposeAsync());

  /** A real member with a pod that writes a line each second, and where its agent is to run. */
  async function startMember(name: string) {
    const lab = parts.use(await Lab.start(run, name));
    const controlPlane = parts.use(await ControlPlane.start(run, { name, lab, scheduler: true }));
    const within = (command: readonly string[]): readonly string[] => lab.command(command);
    parts.use(await RealNode.start({ run, lab, controlPlane, name: `${name}-0`, place: 0 }));
    const kubectl = new Kubectl(requiredBinary('kubectl-1.36'), controlPlane.kubeconfig, controlPlane.folder);
    const script = 'i=0; while :; do i=$((i+1)); echo line $i; sleep 1; done';
    await kubectl.run(['run', 'talker', `--image=${BUSYBOX_IMAGE}`, '--', 'sh', '-c', script]);
    const isReady = ({ status }: Pod): boolean => isConditionTrue(status?.conditions, 'Ready');
    await until(controlPlane.client, PODS, { namespace: 'default', name: 'talker' }, isReady);
    return { lab, controlPlane, within };
  }

  async function through(name: string, version: string): Promise<{ kubectl: Kubectl; flags: string[] }> {
    const { server } = await connectionOf(host.kubeconfig);
    const kubectl = new Kubectl(requiredBinary(`kubectl-${version}`), host.kubeconfig, run.path);
    return { kubectl, flags: ['--server', server + memberProxyPath(name)] };
  }

  for (const name of ['birch', 'cedar']) {
    for (const version of ['1.36', '1.20']) {
      test(`kubectl ${version} reads ${name}, its logs, and into its pods`, async () => {
        const { kubectl, flags } = await through(name, version);
        const uid = ['get', 'namespace', 'kube-system', '-o', 'jsonpath={.metadata.uid}'];
        const own = await members.get(name)?.kubectl.run(uid);
        assert.equal(await kubectl.run([...flags, ...uid]), own, 'it is that member');
        assert.match(await kubectl.run([...flags, 'logs', 'talker']), /^line 1\nline 2\n/);
        const command = ['exec', '-i', 'talker', '--', 'sh', '-c', 'tr a-z A-Z; echo said >&2; exit 7'];
        const { code, stdout, stderr } = await kubectl.try([...flags, ...command], { stdin: 'through it\n' });
        assert.deepEqual([code, stdout], [7, 'THROUGH IT\n'], stderr);
        assert.match(stderr, /^said$/m);
        const bytes = randomBytes(3 << 20).toString('hex');
        const back = await kubectl.run([...flags, 'exec', '-i', 'talker', '--', 'cat'], { stdin: bytes });
        assert.ok(back === bytes, `${back.length} of ${bytes.length} characters came back`);
      });

      test(`kubectl ${version} watches ${name} and follows its logs`, async () => {
        const { kubectl, flags } = await through(name, version);
        const watch = kubectl.spawn([...flags, 'get', 'configmaps', '--watch', '-o', 'name']);
        const logs = kubectl.spawn([...flags, 'logs', '-f', '--tail=1', 'talker']);
        try {
          await printed(watch, /configmap\/kube-root-ca.crt/);
          await members.get(name)?.kubectl.run(['create', 'configmap', `seen-by-${version.replace('.', '-')}`]);
          await Promise.all([printed(watch, /configmap\/seen-by/), printed(logs, /line \d+\n[^]*line \d+\n/)]);
        } finally {
          for (const child of [watch, logs]) child.kill('SIGKILL');
        }
      });
    }
  }

  test('all that birch’s agent sent went through the proxy, and nobody was told the password', async () => {
    const { port } = new URL(hub.address);
    const { asked, port: proxyPort } = proxies.birch;
    assert.ok(asked.length >= 6, `${asked.length} connections`);
    assert.deepEqual([...new Set(asked)], [`${HUB_NAME}:${port}`]);
    const log = await agentLog('birch');
    assert.ok(log.includes(`"proxy":"https://127.0.0.1:${proxyPort}"`), log);
    for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), Buffer.from(`edge:${PASSWORD}`).toString('base64')]) {
      assert.ok(!log.includes(secret));
    }
    assert.doesNotMatch(log, /WebSocket/, 'an upgrade passes');
  });

  test('cedar’s agent found out that only WebSocket passes, and has kept to it', async () => {
    assert.deepEqual([...new Set(proxies.cedar.asked)], [`${HUB_NAME}:${gateway.port}`]);
    assert.ok(gateway.passed.filter((asked) => ATTACH.test(asked)).every((asked) => asked.startsWith('websocket ')));
    const tries = gateway.refused.filter((asked) => ATTACH.test(asked));
    assert.deepEqual([...new Set(tries.map((asked) => asked.split(' ')[0]))], ['asterism-tunnel']);
    assert.ok(tries.length <= 2, `${tries.length} upgrades were tried`);
    const said = (await agentLog('cedar')).split('\n').filter((line) => line.includes('lets no upgrade pass'));
    assert.equal(said.length, 1, 'it says so once');
    assert.match(said[0] ?? '', /403.*Not here/);
  });

  for (const name of ['birch', 'cedar'] as const) {
    test(`the hub is killed and comes back: ${name} is there again by itself`, async () => {
      const before = { proxied: proxies[name].asked.length, passed: gateway.passed.length };
      const pid = await members.get(name)?.agent.pid();
      await host.hub.kill();
      await host.hub.exited();
      const { kubectl, flags } = await through(name, '1.36');
      await eventually(async () => {
        const { code, stderr } = await kubectl.try([...flags, 'get', 'pod', 'talker', '--request-timeout=3s']);
        assert.equal(code, 0, stderr);
      }, 30_000);
      const inside = ['exec', '-i', 'talker', '--', 'cat'];
      assert.equal(await kubectl.run([...flags, ...inside], { stdin: 'again' }), 'again');
      assert.equal(await members.get(name)?.agent.pid(), pid, 'the agent is the same');
      assert.ok(proxies[name].asked.length > before.proxied, 'by the same way');
      assert.ok(name === 'birch' || gateway.passed.length > before.passed, 'by WebSocket again');
    });
  }

  async function agentLog(name: string): Promise<string> {
    return await readFile(join(members.get(name)?.controlPlane.folder ?? '', 'agent.log'), 'utf8');
  }
});

/** Resolves when the child's stdout has it; rejects when it ends before. */
async function printed(child: ReturnType<Kubectl['spawn']>, pattern: RegExp): Promise<void> {
  const texts = SAID.get(child) ?? { out: '', errors: '' };
  if (!SAID.has(child)) {
    SAID.set(child, texts);
    child.stdout?.on('data', (text) => (texts.out += String(text)));
    child.stderr?.on('data', (text) => (texts.errors += String(text)));
  }
  const signal = AbortSignal.timeout(20_000);
  while (!pattern.test(texts.out)) {
    if (child.exitCode !== null) throw new Error(`kubectl ended with ${child.exitCode}: ${texts.out}${texts.errors}`);
    await Promise.race([once(child.stdout ?? child, 'data', { signal }), once(child, 'exit', { signal })]);
  }
}

const SAID = new WeakMap<ReturnType<Kubectl['spawn']>, { out: string; errors: string }>();
