import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { parseJson, PODS } from '@asterism/machinery';
import { AGENT_IMAGE, buildAgentImage } from '../../cluster/agent-image.ts';
import { runAster } from '../../cluster/aster.ts';
import { CONTROL_PLANE_BINARIES, ControlPlane } from '../../cluster/control-plane.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { Lab, LAB_NETWORK } from '../../cluster/lab.ts';
import { unlessNodes } from '../../cluster/node-assets.ts';
import { RealNode } from '../../cluster/real-node.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { ASTER } from '../../demo/aster-up.ts';

const exec = promisify(execFile);
const skip = unlessThere(...CONTROL_PLANE_BINARIES, 'kubectl-1.36') || unlessNodes();

describe('the agent as a pod of a real node, from the packed packages and the printed manifest', { skip }, () => {
  const parts = new AsyncDisposableStack();
  let run: RunFolder;
  let hub: EmbeddedHub;
  let lab: Lab;
  let fir: ControlPlane;
  let kubectl: Kubectl;

  before(async () => {
    run = await RunFolder.open();
    parts.defer(() => run[Symbol.asyncDispose]());
    lab = parts.use(await Lab.start(run, 'fir'));
    const starting = [
      EmbeddedHub.start(run, ['--advertise', LAB_NETWORK.address]).then((each) => parts.use(each)),
      ControlPlane.start(run, { name: 'fir', lab, scheduler: true }).then((each) => parts.use(each)),
      run.folder('image').then(buildAgentImage),
    ] as const;
    await Promise.allSettled(starting);
    const [started, controlPlane, image] = await Promise.all(starting);
    hub = started;
    fir = controlPlane;
    const node = parts.use(await RealNode.start({ run, lab, controlPlane: fir, name: 'fir-0', place: 0 }));
    await node.importImages(image);
    kubectl = new Kubectl(requiredBinary('kubectl-1.36'), fir.kubeconfig, await run.folder('fir', 'kubectl'));
  });
  after(() => parts.disposeAsync());

  test('it joins, is Ready by its probes, and leaves', async () => {
    // The hub is out here; in the lab it is found at the address that pods reach.
    const outside = join(run.path, 'hub.kubeconfig');
    const text = await readFile(hub.kubeconfig, 'utf8');
    await writeFile(outside, text.replaceAll(LAB_NETWORK.address, '127.0.0.1'), { mode: 0o600 });
    const aster = (...args: string[]): Promise<string> => runAster(args, { KUBECONFIG: outside });
    const flags = ['--auto-approve', '--cluster', 'fir', '-o', 'json'];
    const told = parseJson(await aster('token', 'create', ...flags)) as {
      hub: string;
      token: string;
      hubCaPin: string;
    };
    const { port } = new URL(told.hub);
    await lab.openWayOut(Number(port), LAB_NETWORK.address);
    const words = ['join', '--name', 'fir', '--hub', `https://${LAB_NETWORK.address}:${port}`, '--image', AGENT_IMAGE];
    words.push('--token', told.token, '--ca-hash', told.hubCaPin);

    const manifest = await aster(...words, '--manifest');
    await kubectl.run(['apply', '-f', '-'], { stdin: manifest });
    // No kube-proxy runs here, so the address of the Service leads nowhere.
    const env = [`KUBERNETES_SERVICE_HOST=${LAB_NETWORK.address}`, 'KUBERNETES_SERVICE_PORT=6443'];
    await kubectl.run(['-n', 'asterism-system', 'set', 'env', 'deployment/asterism-agent', ...env]);

    // Where the cluster is administered: in its network.
    const inside = await writeKubeconfig(join(run.path, 'inside.kubeconfig'), {
      ...fir.connection,
      server: fir.server,
    });
    const command = lab.command([process.execPath, ...ASTER, ...words, '--kubeconfig', inside, '--timeout', '90s']);
    const [program = '', ...args] = command;
    const { stdout, stderr } = await exec(program, args).catch((error: Error) =>
      assert.fail(`${error.message}\n${JSON.stringify(error)}`),
    );
    assert.match(stdout, /^fir has joined https:/m, stderr);
    assert.match(stderr, /^ok {4}token: the hub takes the bootstrap token$/m);

    const { items } = await fir.client.resource(PODS).list({ namespace: 'asterism-system' });
    const ready = items.flatMap(({ status }) => status?.containerStatuses ?? []).filter((container) => container.ready);
    assert.deepEqual([ready.length, ready[0]?.restartCount], [1, 0], JSON.stringify(items.map(({ status }) => status)));
    assert.equal((await aster('doctor', '-C', 'fir')).trim(), '');

    assert.match(await aster('leave', 'fir'), /^fir has left$/m);
    await kubectl.run(['wait', '--for=delete', 'clusterrole/asterism:agent', '--timeout=60s']);
    // Its end takes the namespace controller half a minute beyond the pod's; that it has begun is what leaving does.
    const phase = ['get', 'namespace', 'asterism-system', '--ignore-not-found', '-o', 'jsonpath={.status.phase}'];
    assert.match(await kubectl.run(phase), /^(Terminating)?$/);
  });
});
