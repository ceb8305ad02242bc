import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import { type Pod, PODS } from '@asterism/machinery';
import { type Kubectl, rowsOf } from '../../cluster/kubectl.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { SimulatedMember } from '../../cluster/simulated-member.ts';
import { until } from '../../cluster/until.ts';

const WAIT = '--timeout=30s';

const pod = (name: string, spec: object): object => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
const one = (container: object): object => ({ containers: [{ name: 'app', image: 'busybox:1.36', ...container }] });

for (const version of ['1.36', '1.20']) {
  describe(`pods of a simulated member, by kubectl ${version}`, {
    skip: unlessThere(`kubectl-${version}`),
    timeout: 240_000,
  }, () => {
    let member: SimulatedMember;
    let client: Client;
    let kubectl: Kubectl;
    const create = (object: object) => kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(object) });
    const seen = (name: string, isWanted: (pod: Pod) => boolean) =>
      until(client, PODS, { namespace: 'default', name }, isWanted, { timeoutMs: 30_000 });
    const ready = (name: string) => kubectl.run(['wait', '--for=condition=Ready', `pod/${name}`, WAIT]);

    before(async () => {
      member = await SimulatedMember.start({ version, nodes: 2, podStartMs: 20, podStopMs: 20 });
      ({ client, kubectl } = member);
    });

    after(() => member?.[Symbol.asyncDispose]());

    test('a Deployment rolls out, a shell runs in it, and its log is followed', async () => {
      const script = 'echo up; while read -r line; do echo "got $line"; done';
      const template = {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'app',
              image: 'busybox:1.36',
              stdin: true,
              command: ['sh', '-c', script],
              ports: [{ containerPort: 80 }],
            },
          ],
        },
      };
      const spec = { replicas: 2, selector: { matchLabels: { app: 'web' } }, template };
      await create({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec });
      await kubectl.run(['rollout', 'status', 'deployment/web', WAIT]);
      const log = kubectl.spawn(['logs', '-f', 'deployment/web']);
      assert.match(String((await once(log.stdout!, 'data'))[0]), /^up\n/);
      log.kill('SIGKILL');
      const out = await kubectl.run([
        'exec',
        'deployment/web',
        '--',
        'sh',
        '-c',
        'echo $HOSTNAME $KUBERNETES_SERVICE_HOST',
      ]);
      assert.match(out, /^web-[a-z0-9-]+ 10\.96\.0\.1\n$/);
      const mounted =
        'cd /var/run/secrets/kubernetes.io/serviceaccount; cat namespace; head -n 1 ca.crt; wc -c < token';
      assert.match(
        await kubectl.run(['exec', 'deployment/web', '--', 'sh', '-c', mounted]),
        /^default-----BEGIN CERTIFICATE-----\n\d{3,}\n$/,
      );
    });

    test('a pod that crashes is told of, and its last log is there', async () => {
      await create(
        pod('crash', { ...one({ command: ['sh', '-c', 'echo before; exit 3'] }), terminationGracePeriodSeconds: 1 }),
      );
      await seen(
        'crash',
        ({ status }) => status?.containerStatuses?.[0]?.state?.waiting?.reason === 'CrashLoopBackOff',
      );
      const [row] = rowsOf(await kubectl.run(['get', 'pod', 'crash']));
      assert.equal(row?.['STATUS'], 'CrashLoopBackOff');
      assert.match(row?.['RESTARTS'] ?? '', /^1\b/);
      assert.equal(await kubectl.run(['logs', 'crash', '--previous']), 'before\n');
      const described = await kubectl.run(['describe', 'pod', 'crash']);
      for (const line of [/Reason:\s+CrashLoopBackOff/, /Exit Code:\s+3/, /Back-off restarting failed container/]) {
        assert.match(described, line);
      }
    });

    test('probes that fail are described, and a container whose liveness fails is started anew', async () => {
      const probe = { periodSeconds: 1, failureThreshold: 1 };
      await create(
        pod('probed', {
          ...one({
            image: 'web:1',
            ports: [{ containerPort: 80 }],
            readinessProbe: { ...probe, httpGet: { port: 81, path: '/healthz' } },
            livenessProbe: { ...probe, initialDelaySeconds: 1, exec: { command: ['test', '-f', '/tmp/alive'] } },
          }),
          terminationGracePeriodSeconds: 1,
        }),
      );
      await seen('probed', ({ status }) => (status?.containerStatuses?.[0]?.restartCount ?? 0) > 0);
      const described = await kubectl.run(['describe', 'pod', 'probed']);
      assert.match(
        described,
        /Warning\s+Unhealthy.*Readiness probe failed: Get "?http:\/\/10\.[\d.]+:81\/healthz"?: dial tcp .*connection refused/,
      );
      assert.match(described, /Warning\s+Unhealthy.*Liveness probe failed/);
      assert.match(described, /Killing.*Container app failed liveness probe, will be restarted/);
      assert.match(described, /Ready\s+False/);
    });

    test('a Job whose pod fails once and then succeeds', async () => {
      const script = 'test -f /data/tried && exit 0; touch /data/tried; echo first >&2; exit 1';
      const spec = {
        ...one({ command: ['sh', '-c', script], volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
        volumes: [{ name: 'data', emptyDir: {} }],
        restartPolicy: 'OnFailure',
      };
      await create({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'twice' }, spec: { template: { spec } } });
      await kubectl.run(['wait', '--for=condition=complete', 'job/twice', WAIT]);
      const [row] = rowsOf(await kubectl.run(['get', 'pods', '-l', 'job-name=twice']));
      assert.deepEqual([row?.['STATUS'], row?.['READY']], ['Completed', '0/1']);
    });

    test('init containers, configuration and files reach a container', async () => {
      await kubectl.run(['create', 'configmap', 'settings', '--from-literal=color=green']);
      await kubectl.run(['create', 'secret', 'generic', 'key', '--from-literal=password=secret']);
      const volumeMounts = [{ name: 'scratch', mountPath: '/scratch' }];
      await create(
        pod('fed', {
          initContainers: [
            { name: 'first', image: 'busybox:1.36', command: ['sh', '-c', 'echo made > /scratch/file'], volumeMounts },
          ],
          containers: [
            {
              name: 'app',
              image: 'busybox:1.36',
              command: [
                'sh',
                '-c',
                'cat /scratch/file /etc/settings/color; echo " $COLOR $(NAME) $password"; sleep 600',
              ],
              env: [
                { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
                { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } },
              ],
              envFrom: [{ secretRef: { name: 'key' }, prefix: '' }],
              volumeMounts: [...volumeMounts, { name: 'settings', mountPath: '/etc/settings' }],
            },
          ],
          volumes: [
            { name: 'scratch', emptyDir: {} },
            { name: 'settings', configMap: { name: 'settings' } },
          ],
          terminationGracePeriodSeconds: 1,
        }),
      );
      await ready('fed');
      const log = kubectl.spawn(['logs', '-f', 'fed', '-c', 'app']);
      let text = '';
      for await (const piece of log.stdout!) {
        text += String(piece);
        if (text.split('\n').length > 2) break;
      }
      log.kill('SIGKILL');
      assert.equal(text, 'made\ngreen green fed secret\n');
    });

    test('what nodes and pods use, for those who may know', async () => {
      await create(pod('busy', one({ image: 'web:1' })));
      await ready('busy');
      const nodes = rowsOf(await kubectl.run(['top', 'node']));
      assert.deepEqual(
        nodes.map(({ NAME }) => NAME),
        ['alder-1', 'alder-2'],
      );
      for (const row of nodes) assert.match(row['CPU(cores)'] ?? '', /^\d+m$/);
      const pods = rowsOf(await kubectl.run(['top', 'pod', '--containers']));
      const busy = pods.find(({ POD }) => POD === 'busy');
      assert.deepEqual([busy?.['NAME'], /^\d+Mi$/.test(busy?.['MEMORY(bytes)'] ?? '')], ['app', true]);
      await kubectl.run(['create', 'serviceaccount', 'reader']);
      await kubectl.run(['create', 'rolebinding', 'reader', '--clusterrole=view', '--serviceaccount=default:reader']);
      const may = async (what: string): Promise<string> =>
        (await kubectl.try(['auth', 'can-i', 'list', what, '--as=system:serviceaccount:default:reader'])).stdout.trim();
      assert.deepEqual([await may('pods.metrics.k8s.io'), await may('secrets')], ['yes', 'no']);
    });

    test('a node is drained, and taken into use again', async () => {
      await kubectl.run(['drain', 'alder-1', '--ignore-daemonsets', '--delete-emptydir-data', '--force', WAIT]);
      const left = ['get', 'pods', '--field-selector=spec.nodeName=alder-1', '-o', 'name'];
      assert.equal(await kubectl.run(left), '');
      assert.match(await kubectl.run(['get', 'node', 'alder-1']), /Ready,SchedulingDisabled/);
      await kubectl.run(['rollout', 'status', 'deployment/web', WAIT]);
      await kubectl.run(['uncordon', 'alder-1']);
    });

    test('a terminal, files and ports', async () => {
      await create(pod('desk', one({ image: 'web:1', ports: [{ containerPort: 80 }] })));
      await ready('desk');
      const typed = await kubectl.try(['exec', '-it', 'desk', '--', 'sh'], { stdin: 'echo $((6*7))\nexit 5\n' });
      assert.deepEqual([typed.code, /42/.test(typed.stdout)], [5, true], typed.stderr);
      const sent = randomBytes(3_000_000);
      const file = join(member.run.path, 'sent');
      await writeFile(file, sent);
      await kubectl.run(['cp', file, 'desk:/tmp/copy']);
      await kubectl.run(['cp', 'desk:/tmp/copy', `${file}-back`]);
      assert.ok((await readFile(`${file}-back`)).equals(sent));
      const forward = kubectl.spawn(['port-forward', 'desk', ':80']);
      const [line] = await once(forward.stdout!, 'data');
      const port = /127\.0\.0\.1:(\d+)/.exec(String(line))?.[1];
      const page = await (await fetch(`http://127.0.0.1:${port}/hello`)).text();
      forward.kill('SIGKILL');
      assert.match(page, /^Hello from default\/desk /);
    });
  });
}
