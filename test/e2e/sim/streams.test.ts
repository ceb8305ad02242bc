import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { on, once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type ApiServer, createApiServer } from '@asterism/apiserver';
import { type Client, type Connection, createClient, systemClock } from '@asterism/client';
import { type KubeObject, NODES, PODS } from '@asterism/machinery';
import {
  type ContainerRuntime,
  createContainerRuntime,
  type Kubelet,
  kubeletConnects,
  type NodeBackend,
  startKubelet,
} from '@asterism/sim';
import { ADMIN, ClusterPki } from '../../cluster/cluster-pki.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { servedAs } from '../../cluster/own-api-server.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { echoed, sumOf } from '../../cluster/echoed-bytes.ts';
import { ProcessBackend } from '../../cluster/process-backend.ts';

const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36', 'kubectl-1.20');

/** Gives kubectl a terminal. */
const SCRIPT = '/usr/bin/script';

/** Where kubectl connects to, and the node behind it. */
interface Place<Backend extends NodeBackend = ProcessBackend> extends AsyncDisposable {
  connection: Connection;
  backend: Backend;
}

const pod = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'default', name },
  spec: {
    nodeName: 'node-1',
    automountServiceAccountToken: false,
    containers: [{ name: 'app', image: 'app', ports: [{ containerPort: 80 }] }],
  },
});

async function addPod(client: Client, name: string): Promise<void> {
  await client.resource(PODS).create(pod(name));
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await client
    .resource(PODS)
    .patch({ namespace: 'default', name }, { type: 'merge', body: { status } }, { subresource: 'status' });
}

/** Tests with each kubectl; where its files and the server are is asked when the tests begin. */
function describeKubectls(
  place: () => { run: RunFolder; kubeconfig: string },
  define: (kubectl: () => Kubectl, version: string) => void,
): void {
  for (const version of ['1.20', '1.36']) {
    describe(`kubectl ${version}`, () => {
      let kubectl: Kubectl;

      before(async () => {
        const { run, kubeconfig } = place();
        kubectl = new Kubectl(requiredBinary(`kubectl-${version}`), kubeconfig, await run.folder('home', version));
      });

      define(() => kubectl, version);
    });
  }
}

/** Our API server, the node served in its process. */
async function ours<Backend extends NodeBackend>(
  run: RunFolder,
  backend: Backend,
  pods: readonly string[],
): Promise<Place<Backend>> {
  const pki = await ClusterPki.create(await run.folder('ours', 'pki'), []);
  const user = { username: 'kubelet', groups: ['system:masters'] };
  const server: ApiServer = createApiServer({
    ...(await servedAs(pki)),
    admissionPlugins: { disable: ['ServiceAccount'] },
    connects: kubeletConnects({
      podOf: async (namespace, name) => await client.resource(PODS).get({ namespace, name }),
      backendOf: (nodeName) => (nodeName === 'node-1' ? backend : undefined),
    }),
  });
  const client = createClient({ transport: server.transport(user), userAgent: 'test' });
  const { url } = await server.start();
  for (const name of pods) await addPod(client, name);
  const credential = { kind: 'certificate', ...(await pki.issueClient('admin', ADMIN)) } as const;
  return {
    connection: { server: url, caData: pki.ca.cert, credential },
    backend,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

/** A real kube-apiserver, pointed by the Node's address at a kubelet endpoint of ours. */
async function real(run: RunFolder): Promise<Place> {
  const control = await ControlPlane.start(run, { name: 'real' });
  const backend = new ProcessBackend(await run.folder('real', 'containers'));
  const tls = await control.pki.issue('node-1', {
    commonName: 'system:node:node-1',
    ipAddresses: ['127.0.0.1'],
    usages: ['server'],
  });
  const kubelet: Kubelet = await startKubelet({
    nodeName: 'node-1',
    backendOf: () => backend,
    backends: () => [backend],
    pods: () => [],
    listen: { host: '127.0.0.1', port: 0 },
    tls,
    clientCa: control.pki.ca.cert,
    clock: systemClock,
  });
  const { client } = control;
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  };
  await client
    .resource(NODES)
    .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' }, status } as KubeObject);
  await addPod(client, 'web');
  return {
    connection: control.connection,
    backend,
    [Symbol.asyncDispose]: async () => {
      await control[Symbol.asyncDispose]();
      await kubelet.stop();
    },
  };
}

for (const [where, open] of [
  [
    'our API server',
    async (run: RunFolder): Promise<Place> =>
      await ours(run, new ProcessBackend(await run.folder('ours', 'containers')), ['web']),
  ],
  ['a kubelet endpoint behind a real kube-apiserver', real],
] as const) {
  describe(`streams of ${where}`, { skip, timeout: 60_000 }, () => {
    let run: RunFolder;
    let place: Place;
    let kubeconfig: string;
    let echo: Server;

    before(async () => {
      run = await RunFolder.open();
      place = await open(run);
      kubeconfig = await writeKubeconfig(join(run.path, 'kubeconfig'), place.connection);
      echo = createServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => {});
        socket.pipe(socket);
      }).listen(0, '127.0.0.1');
      await once(echo, 'listening');
      place.backend.ports.set(80, (echo.address() as AddressInfo).port);
    });

    after(async () => {
      echo?.close();
      await place?.[Symbol.asyncDispose]();
      await run?.[Symbol.asyncDispose]();
    });

    describeKubectls(
      () => ({ run, kubeconfig }),
      (kubectl, version) => {
        test('exec: output, errors, input and the exit code', async () => {
          const script = 'read line; echo "out $line"; echo err >&2; exit 7';
          const result = await kubectl().try(['exec', '-i', 'web', '--', 'sh', '-c', script], { stdin: 'hello\n' });
          assert.equal(result.stdout, 'out hello\n');
          assert.match(result.stderr, /^err\ncommand terminated with exit code 7\n$/);
          assert.equal(result.code, 7);
        });

        test('exec: several MB through both ways, and the end of the input', async () => {
          const sent = randomBytes(4_000_000);
          const child = kubectl().spawn(['exec', '-i', 'web', '--', 'cat']);
          child.stdin?.end(sent);
          const received = await buffer(child.stdout!);
          assert.ok(received.equals(sent), `${received.length} bytes`);
        });

        test('exec of a program that is not there', async () => {
          const { code, stderr } = await kubectl().try(['exec', 'web', '--', 'no-such-program']);
          assert.equal(code, 1, stderr);
          assert.match(stderr, /Internal error occurred: .*error executing command in container: .*no-such-program/);
        });

        test('exec with a terminal', async () => {
          const { code, stdout } = await kubectl().try(['exec', '-it', 'web', '--', 'sh', '-c', 'cat; echo over'], {
            stdin: 'typed\n',
          });
          assert.deepEqual([code, stdout], [0, 'typed\nover\n']);
        });

        test('exec with a terminal that changes its size', {
          skip: !existsSync(SCRIPT) && `no ${SCRIPT}`,
        }, async () => {
          const binary = requiredBinary(`kubectl-${version}`);
          const kubectlExec = `${binary} --kubeconfig ${kubeconfig} exec -it web -- cat`;
          const again = join(run.path, `again-${version}`);
          const resize = `(until [ -e ${again} ]; do sleep 0.05; done; stty cols 90 rows 20 </dev/tty) & exec`;
          const line = `stty cols 101 rows 37; ${resize} ${kubectlExec}`;
          const sizes = on(place.backend.events, 'resized', { signal: AbortSignal.timeout(20_000) });
          const child = spawn(SCRIPT, ['-qec', line, '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] });
          const closed = once(child, 'close');
          const seen: object[] = [];
          for await (const [size] of sizes) {
            seen.push(size as object);
            await writeFile(again, '');
            if (isDeepStrictEqual(size, { columns: 90, rows: 20 })) break;
          }
          child.kill('SIGKILL');
          assert.deepEqual(seen[0], { columns: 101, rows: 37 });
          await closed;
        });

        test('a kubectl that is killed ends its command', async () => {
          const child = kubectl().spawn(['exec', 'web', '--', 'sh', '-c', 'echo up; exec sleep 60']);
          await once(child.stdout!, 'data');
          const ended = once(place.backend.events, 'ended');
          child.kill('SIGKILL');
          assert.deepEqual(await ended, [137]);
        });

        test('attach', async () => {
          const { code, stdout } = await kubectl().try(['attach', '-i', 'web', '-c', 'app'], { stdin: 'attached\n' });
          assert.deepEqual([code, stdout], [0, 'attached\n']);
        });

        test('logs: a tail, followed, and those of before', async () => {
          for (const line of ['one', 'two', 'three']) place.backend.log(line);
          assert.equal(await kubectl().run(['logs', 'web', '--tail=2']), 'two\nthree\n');
          const child = kubectl().spawn(['logs', '-f', 'web', '--tail=1']);
          const first = String((await once(child.stdout!, 'data'))[0]);
          assert.equal(first, 'three\n');
          place.backend.log('four');
          assert.equal(String((await once(child.stdout!, 'data'))[0]), 'four\n');
          const left = once(place.backend.events, 'left');
          child.kill('SIGKILL');
          await left;
          const { code, stderr } = await kubectl().try(['logs', '-p', 'web']);
          assert.equal(code, 1);
          assert.match(stderr, /previous terminated container|Bad Request|bad request|unable to understand/);
        });

        test('cp there and back', async () => {
          const sent = randomBytes(6_000_000);
          const file = join(run.path, `sent-${version}`);
          await writeFile(file, sent);
          await kubectl().run(['cp', file, `web:copy-${version}`]);
          await kubectl().run(['cp', `web:copy-${version}`, `${file}-back`]);
          assert.equal(sumOf(await readFile(`${file}-back`)), sumOf(sent));
        });

        test('port-forward of 20 connections at once', async () => {
          const child = kubectl().spawn(['port-forward', 'web', ':80']);
          const [line] = await once(child.stdout!, 'data');
          const port = Number(/127\.0\.0\.1:(\d+)/.exec(String(line))?.[1]);
          const sums = await Promise.all(Array.from({ length: 20 }, async () => await echoed(port, 300_000)));
          child.kill('SIGKILL');
          await once(child, 'close');
          for (const [sent, received] of sums) assert.equal(received, sent);
        });
      },
    );
  });
}

const POD_COUNT = 50;

describe('streams of simulated containers', { skip, timeout: 60_000 }, () => {
  let run: RunFolder;
  let place: Place<ContainerRuntime>;
  let kubeconfig: string;

  before(async () => {
    run = await RunFolder.open();
    const runtime = createContainerRuntime({ clock: systemClock });
    const names = Array.from({ length: POD_COUNT }, (_, index) => `web-${index}`);
    place = await ours(run, runtime, names);
    for (const name of names) {
      const command = ['sh', '-c', 'cat'];
      const stays = { env: {}, workingDir: '/', tty: false, stdin: true, ports: [], files: new Map(), hostname: name };
      runtime.start(
        { namespace: 'default', pod: name, container: 'app' },
        { podUid: name, image: 'app', command, ...stays },
      );
    }
    kubeconfig = await writeKubeconfig(join(run.path, 'kubeconfig'), place.connection);
  });

  after(async () => {
    await place?.[Symbol.asyncDispose]();
    await run?.[Symbol.asyncDispose]();
  });

  describeKubectls(
    () => ({ run, kubeconfig }),
    (kubectl, version) => {
      test('a shell, and a program that is not there', async () => {
        const shell = await kubectl().try(['exec', '-i', 'web-0', '--', 'sh'], {
          stdin: 'echo $HOSTNAME | cat\nexit 3\n',
        });
        assert.deepEqual([shell.code, shell.stdout], [3, 'web-0\n']);
        const { code, stderr } = await kubectl().try(['exec', 'web-0', '--', 'nope']);
        assert.equal(code, 1);
        assert.match(stderr, /^error: Internal error occurred: .*exec: "nope": executable file not found in \$PATH/);
      });

      test('cp of 100 MB there and back', async () => {
        const sent = randomBytes(100_000_000);
        const file = join(run.path, `sent-${version}`);
        await writeFile(file, sent);
        await kubectl().run(['cp', file, 'web-0:/tmp/copy']);
        await kubectl().run(['cp', 'web-0:/tmp/copy', `${file}-back`]);
        assert.equal(sumOf(await readFile(`${file}-back`)), sumOf(sent));
        await kubectl().run(['exec', 'web-0', '--', 'rm', '/tmp/copy']);
      });

      test(`logs -f of ${POD_COUNT} pods, of which one reader stops reading`, async () => {
        const followers = Array.from({ length: POD_COUNT }, (_, index) =>
          kubectl().spawn(['logs', '-f', `web-${index}`, '--tail=0']),
        );
        // The pipe of the first is never read: it fills, then kubectl stops reading.
        const attached = await Promise.all(
          followers.map((_, index) =>
            place.backend.attach(
              { namespace: 'default', pod: `web-${index}`, container: 'app' },
              { stdin: true, tty: false },
            ),
          ),
        );
        const line = `${'x'.repeat(9_999)}\n`;
        const read = followers.slice(1).map(async ({ stdout }, index) => {
          let length = 0;
          const nudge = setInterval(() => attached[index + 1]?.stdin.write(line), 100);
          for await (const piece of stdout!) {
            length += (piece as Buffer).length;
            if (length >= 1_000_000) break;
            attached[index + 1]?.stdin.write(line);
          }
          clearInterval(nudge);
        });
        for (let count = 0; count < 300; count++) attached[0]?.stdin.write(line);
        for (const { stdout } of attached) stdout.resume();
        await Promise.all(read);
        for (const process of attached) process.kill('KILL');
        for (const child of followers) child.kill('SIGKILL');
      });
    },
  );
});
