import { EventEmitter, once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type Client, systemClock } from '@asterism/client';
import { isConditionTrue, type KubeObject, NAMESPACES, NODES, PODS, SERVICE_ACCOUNTS } from '@asterism/machinery';
import { startKubelet } from '@asterism/sim';
import { Fleet, type Member } from '../../cluster/fleet.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { BUSYBOX_IMAGE } from '../../cluster/node-assets.ts';
import type { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';
import { ProcessBackend } from '../../cluster/process-backend.ts';

export const NAMESPACE = 'streams';

/** One member with a pod that echoes at port 8080, and by its own input. */
export interface Place {
  name: 'alder' | 'cedar';
  pod: string;
  /** Has a line come into the pod's log. */
  say(line: string): Promise<void>;
  /** A script that goes on when its terminal is 101 by 37, or, where containers have none, at once. */
  whenSized: string;
  /** Resolves when the terminal of a command in the pod is of that size. */
  sized(stdout: EventEmitter): Promise<void>;
}

/**
 * A fleet for streams: `alder`, Push, where a simulated kubelet's endpoint stands behind a real kube-apiserver, and its containers'
 * commands are processes of this machine; and `cedar`, Pull, in a network of its own, with real nodes. In both a pod `web-…` and one
 * `twin`.
 */
export class StreamsFleet implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly alder: Place;
  readonly cedar: Place;
  readonly #parts: AsyncDisposableStack;

  private constructor(fleet: Fleet, places: Pick<StreamsFleet, 'alder' | 'cedar'>, parts: AsyncDisposableStack) {
    this.fleet = fleet;
    this.alder = places.alder;
    this.cedar = places.cedar;
    this.#parts = parts;
  }

  static async start(run: RunFolder, startHub: (run: RunFolder) => Promise<FleetHub>): Promise<StreamsFleet> {
    await using parts = new AsyncDisposableStack();
    const fleet = parts.use(await Fleet.start(run, startHub));
    const backend = await giveKubelet(run, fleet.alder, parts);
    await Promise.all(fleet.members.map(addPods));
    return new StreamsFleet(fleet, { alder: alderPlace(backend), cedar: cedarPlace(fleet.cedar) }, parts.move());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}

/** Points alder's one Node at an endpoint of ours. */
async function giveKubelet(run: RunFolder, alder: Member, parts: AsyncDisposableStack): Promise<ProcessBackend> {
  const { pki, client } = alder.controlPlane;
  const backend = new ProcessBackend(await run.folder('alder', 'containers'));
  const echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  }).listen(0, '127.0.0.1');
  parts.defer(() => void echo.close());
  await once(echo, 'listening');
  backend.ports.set(8080, (echo.address() as AddressInfo).port);
  const subject = { commonName: 'system:node:alder-0', ipAddresses: ['127.0.0.1'], usages: ['server' as const] };
  const kubelet = await startKubelet({
    nodeName: 'alder-0',
    backendOf: () => backend,
    backends: () => [backend],
    pods: () => [],
    listen: { host: '127.0.0.1', port: 0 },
    tls: await pki.issue('kubelet', subject),
    clientCa: pki.ca.cert,
    clock: systemClock,
  });
  parts.defer(() => kubelet.stop());
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  };
  const ref = { name: 'alder-0' };
  await client.resource(NODES).patch(ref, { type: 'merge', body: { status } }, { subresource: 'status' });
  return backend;
}

async function addPods({ name, controlPlane: { client } }: Member): Promise<void> {
  await client.resource(NAMESPACES).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  await until(client, SERVICE_ACCOUNTS, { namespace: NAMESPACE, name: 'default' }, () => true);
  await Promise.all([addPod(client, `web-${name}`), addPod(client, 'twin')]);
}

async function addPod(client: Client, name: string): Promise<void> {
  const container = {
    name: 'app',
    image: BUSYBOX_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    // An echo: of each connection what comes is given back, to its end; and of whoever attaches.
    command: ['sh', '-c', 'nc -ll -p 8080 -e cat & exec cat'],
    stdin: true,
    ports: [{ name: 'echo', containerPort: 8080 }],
  };
  const spec = { containers: [container], automountServiceAccountToken: false, terminationGracePeriodSeconds: 0 };
  const metadata = { namespace: NAMESPACE, name, labels: { app: name } };
  await client.resource(PODS).create({ apiVersion: 'v1', kind: 'Pod', metadata, spec } as KubeObject);
  await until(client, PODS, metadata, ({ status }) => isConditionTrue(status?.conditions, 'Ready'));
}

function alderPlace(backend: ProcessBackend): Place {
  return {
    name: 'alder',
    pod: 'web-alder',
    say: async (line) => backend.log(line),
    whenSized: 'true',
    async sized() {
      for (;;) {
        const [size] = (await once(backend.events, 'resized')) as [{ columns: number; rows: number }];
        if (size.columns === 101 && size.rows === 37) return;
      }
    },
  };
}

function cedarPlace({ kubectl }: Member): Place {
  const pod = 'web-cedar';
  return {
    name: 'cedar',
    pod,
    say: async (line) => {
      const script = `echo '${line}' >/proc/1/fd/1`;
      await kubectl.run(['--namespace', NAMESPACE, 'exec', pod, '--', 'sh', '-c', script]);
    },
    whenSized: 'until [ "$(stty size)" = "37 101" ]; do sleep 0.1; done',
    async sized(stdout) {
      for (let said = ''; !said.includes('sized'); ) said += String((await once(stdout, 'data'))[0]);
    },
  };
}
