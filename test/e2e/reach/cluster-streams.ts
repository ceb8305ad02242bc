import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { runAster, spawnAster } from '../../cluster/aster.ts';
import { unlessFleet } from '../../cluster/fleet.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { type Output, outputOf } from '../../cluster/output-of.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { ASTER } from '../../demo/aster-up.ts';
import { echoed, sumOf } from '../../cluster/echoed-bytes.ts';
import { NAMESPACE, type Place, StreamsFleet } from './streams-fleet.ts';

/** Gives a program a terminal. */
const SCRIPT = '/usr/bin/script';
const skip = unlessFleet() || unlessThere('kubectl-1.20') || (!existsSync(SCRIPT) && `no ${SCRIPT}`);

/** Who uses the streams: kubectl by a context that aster wrote, or aster by itself. */
interface Caller {
  /** The words of a shell that lead to a place. */
  line(place: Place, command: string): string[];
  spawn(place: Place, command: string, args: readonly string[]): ChildProcess;
}

const callers = ['kubectl 1.20', 'kubectl 1.36', 'aster'] as const;
const places = ['alder', 'cedar'] as const;

/** kubectl by the contexts that aster writes, and aster by itself, into both members of a {@link StreamsFleet}. */
export function clusterStreams(title: string, startHub: (run: RunFolder) => Promise<FleetHub>): void {
  describe(title, { skip, timeout: 180_000 }, () => {
    const parts = new AsyncDisposableStack();
    let run: RunFolder;
    let streams: StreamsFleet;
    /** As `aster kubeconfig` wrote it. */
    let contexts: string;

    before(async () => {
      run = parts.use(await RunFolder.open());
      streams = parts.use(await StreamsFleet.start(run, startHub));
      contexts = join(run.path, 'contexts');
      await runAster(['kubeconfig', '--kubeconfig', streams.fleet.hub.kubeconfig, '-o', contexts]);
    });

    after(() => parts.disposeAsync());

    function callerOf(name: (typeof callers)[number]): Caller {
      if (name === 'aster') {
        const flags = (): string[] => ['-n', NAMESPACE, '--kubeconfig', streams.fleet.hub.kubeconfig];
        return {
          line: (_, command) => [process.execPath, ...ASTER, command, ...flags()],
          spawn: (_, command, args) => spawnAster([command, ...flags(), ...args]),
        };
      }
      const binary = requiredBinary(name.replace(' ', '-'));
      const flags = (place: Place): string[] => ['--context', `asterism/${place.name}`, '-n', NAMESPACE];
      return {
        line: (place, command) => [binary, '--kubeconfig', contexts, ...flags(place), command],
        spawn: (place, command, args) =>
          new Kubectl(binary, contexts, run.path).spawn([...flags(place), command, ...args]),
      };
    }

    test('the contexts are for their owner alone, and those of the hub and of search work', async () => {
      assert.equal((await stat(contexts)).mode & 0o777, 0o600);
      const kubectl = new Kubectl(requiredBinary('kubectl-1.36'), contexts, run.path);
      const clusters = await kubectl.run(['--context', 'asterism', 'get', 'clusters', '-o', 'name']);
      assert.deepEqual(clusters.trim().split('\n').sort(), [
        'cluster.asterism.dev/alder',
        'cluster.asterism.dev/cedar',
      ]);
      for (let found = ''; !/alder[^]*cedar/.test(found); ) {
        found = await kubectl.run(['--context', 'asterism-search', 'get', 'pods', '-n', NAMESPACE, '-l', 'app=twin']);
      }
    });

    for (const where of places) {
      for (const who of callers) {
        describe(`${who} in ${where}`, () => {
          const place = (): Place => streams[where];
          const start = (command: string, ...args: string[]): ChildProcess =>
            callerOf(who).spawn(place(), command, args);
          const exec = (words: readonly string[], stdin?: string): Promise<Output> =>
            outputOf(start('exec', '-i', place().pod, '--', ...words), stdin);

          test('exec: both outputs, the input and the exit code', async () => {
            const { code, stdout, stderr } = await exec(
              ['sh', '-c', 'read line; echo "out $line"; echo err >&2; exit 7'],
              'hello\n',
            );
            assert.equal(stdout, 'out hello\n');
            assert.equal(stderr, 'err\ncommand terminated with exit code 7\n');
            assert.equal(code, 7);
          });

          test('exec: megabytes both ways, and the end of the input', async () => {
            const sent = randomBytes(4_000_000);
            const child = start('exec', '-i', place().pod, '--', 'cat');
            child.stdin?.end(sent);
            const ended = once(child, 'close');
            const [received, wrong] = await Promise.all([buffer(child.stdout!), text(child.stderr!)]);
            assert.ok(received.equals(sent), `${received.length} bytes; ${wrong}`);
            assert.deepEqual(await ended, [0, null]);
          });

          test('exec -it in a terminal: its size, keys, the exit code', { timeout: 30_000 }, async () => {
            const script = `${place().whenSized}; echo sized; read line; echo "got $line"; exit 5`;
            const words = [...callerOf(who).line(place(), 'exec'), '-it', place().pod, '--', 'sh', '-c', script];
            const line = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
            const child = spawn(SCRIPT, ['-qec', `stty cols 101 rows 37; exec ${line}`, '/dev/null']);
            let said = '';
            child.stdout.on('data', (text) => (said += String(text)));
            const closed = once(child, 'close');
            await place().sized(child.stdout);
            child.stdin.write('typed\r');
            // Where containers have no terminal nobody makes an end of a line out of what Enter sends.
            if (where === 'alder') child.stdin.write('\n');
            const [code] = (await closed) as [number];
            assert.match(said, /got typed/);
            assert.equal(code, 5, said);
          });

          test('logs -f', async () => {
            await place().say(`${who} one`);
            const child = start('logs', '-f', place().pod, '--tail=1');
            const lines = await saysUntil(child, `${who} one\n`);
            assert.equal(lines, `${who} one\n`);
            const more = saysUntil(child, `${who} two\n`);
            await place().say(`${who} two`);
            assert.equal(await more, `${who} two\n`);
            child.kill('SIGINT');
            await once(child, 'close');
          });

          test('port-forward: several connections at once, half-closed', async () => {
            const child = start('port-forward', place().pod, ':8080');
            const port = Number(/127\.0\.0\.1:(\d+)/.exec(await saysUntil(child, '-> 8080\n'))?.[1]);
            const sums = await Promise.all(Array.from({ length: 3 }, () => echoed(port, 2_000_000)));
            child.kill('SIGINT');
            await once(child, 'close');
            for (const [sent, received] of sums) assert.equal(received, sent);
          });

          if (who === 'aster') return;
          test('attach: what is typed comes to the container, and what that says comes back', async () => {
            const child = start('attach', '-i', place().pod);
            child.stdin?.write(`${who} typed\n`);
            assert.equal(await saysUntil(child, '\n'), `${who} typed\n`);
            child.kill('SIGINT');
            await once(child, 'close');
          });

          test('cp of a large file, there and back', async () => {
            const sent = randomBytes(10_000_000);
            const file = join(run.path, `sent-${where}-${who.slice(-2)}`);
            await writeFile(file, sent);
            for (const pair of [
              [file, `${place().pod}:copy`],
              [`${place().pod}:copy`, `${file}-back`],
            ]) {
              const { code, stderr } = await outputOf(start('cp', ...pair));
              assert.equal(code, 0, stderr);
            }
            assert.equal(sumOf(await readFile(`${file}-back`)), sumOf(sent));
          });
        });
      }
    }

    describe('kubectl top', () => {
      before(async () => {
        const { kubectl } = streams.fleet.alder;
        await kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(POD_METRICS) });
        await kubectl.run(['wait', '--for=condition=established', '--timeout=30s', `crd/${POD_METRICS.metadata.name}`]);
        await kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(metricsOf('web-alder')) });
      });

      for (const who of ['kubectl 1.20', 'kubectl 1.36'] as const) {
        test(`of ${who}`, async () => {
          const top = callerOf(who).spawn(streams.alder, 'top', ['pod', 'web-alder']);
          const { code, stdout, stderr } = await outputOf(top);
          assert.equal(code, 0, stderr);
          assert.match(stdout, /web-alder +7m +42Mi/);
        });
      }
    });

    describe('aster finds the cluster', () => {
      const aster = (command: string, ...args: string[]): Promise<Output> =>
        outputOf(callerOf('aster').spawn(streams.alder, command, args));

      test('not where there are two, and says so; by -C then', async () => {
        const { code, stderr } = await aster('exec', 'twin', '--', 'true');
        assert.equal(code, 2);
        assert.match(stderr, /^aster: pod "twin" in namespace "streams" is in several clusters: alder, cedar\. .*-C/);
        const { code: there, stdout } = await aster('exec', '-C', 'cedar', 'twin', '--', 'hostname');
        assert.deepEqual([there, stdout], [0, 'twin\n']);
      });

      test('nowhere where it is in none', async () => {
        const { code, stderr } = await aster('logs', 'nowhere');
        assert.equal(code, 1);
        assert.equal(stderr, 'aster: there is no pod "nowhere" in namespace "streams" in alder, cedar\n');
      });

      test('while another one is cut off, and names that one where it matters', async () => {
        streams.fleet.wayOut.cut();
        try {
          const { code, stdout, stderr } = await aster('exec', 'web-alder', '--', 'echo', 'here');
          assert.deepEqual([code, stdout], [0, 'here\n'], stderr);
          const [nowhere, there] = await Promise.all([aster('logs', 'nowhere'), aster('logs', 'web-cedar')]);
          assert.equal(there.code, 1);
          assert.match(there.stderr, /"web-cedar" .* cannot be asked for now, as search knows: cedar \(/);
          assert.equal(nowhere.code, 1);
          assert.match(nowhere.stderr, /no pod "nowhere" in namespace "streams" in alder; who did not say: cedar \(/);
        } finally {
          streams.fleet.wayOut.restore();
        }
      });
    });
  });
}

/** What kubectl top reads, as objects: what measures it is not the matter here. */
const POD_METRICS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'pods.metrics.k8s.io',
    annotations: { 'api-approved.kubernetes.io': 'unapproved, for a test' },
  },
  spec: {
    group: 'metrics.k8s.io',
    scope: 'Namespaced',
    names: { plural: 'pods', kind: 'PodMetrics' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};

function metricsOf(name: string): object {
  return {
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'PodMetrics',
    metadata: { namespace: NAMESPACE, name },
    timestamp: '2026-01-01T00:00:00Z',
    window: '30s',
    containers: [{ name: 'app', usage: { cpu: '7m', memory: '42Mi' } }],
  };
}

/** What a program prints until, and with, its `end`. Rejects where it ends before. */
async function saysUntil(child: ChildProcess, end: string): Promise<string> {
  let said = '';
  let wrong = '';
  child.stderr?.on('data', (text) => (wrong += String(text)));
  const over = once(child, 'close').then(() => {
    throw new Error(`it ended, having said ${JSON.stringify(said)} and ${JSON.stringify(wrong)}`);
  });
  const reading = async (): Promise<string> => {
    while (!said.endsWith(end)) said += String((await once(child.stdout!, 'data'))[0]);
    return said;
  };
  over.catch(() => {});
  return await Promise.race([reading(), over]);
}
