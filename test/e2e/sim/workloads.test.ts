import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import { PODS } from '@asterism/machinery';
import { type Kubectl, rowsOf } from '../../cluster/kubectl.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { SimulatedMember } from '../../cluster/simulated-member.ts';
import { until } from '../../cluster/until.ts';

const TIMEOUT = '--timeout=30s';

/** A workload with a template of its own, of the apps group. */
const workload = (kind: string, spec: object) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: kind } },
    template: { metadata: { labels: { app: kind } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
    ...spec,
  },
});

const job = {
  spec: {
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'run', image: 'busybox', command: ['true'] }] } },
  },
};

for (const version of ['1.36', '1.20']) {
  describe(`workloads of a simulated member, by kubectl ${version}`, {
    skip: unlessThere(`kubectl-${version}`),
  }, () => {
    let member: SimulatedMember;
    let client: Client;
    let kubectl: Kubectl;
    const apply = (object: object) => kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(object) });
    const imageOf = (what: string) =>
      kubectl.run(['get', what, '-o', 'jsonpath={.spec.template.spec.containers[0].image}']);

    before(async () => {
      member = await SimulatedMember.start({ version, nodes: 3, podStartMs: 50, podStopMs: 20 });
      ({ client, kubectl } = member);
    });

    after(() => member?.[Symbol.asyncDispose]());

    for (const [kind, spec, done] of [
      ['Deployment', { replicas: 3 }, /deployment "web" successfully rolled out/],
      ['StatefulSet', { replicas: 2, serviceName: 'web' }, /roll out complete: 2 new pods have been updated/],
      ['DaemonSet', {}, /daemon set "web" successfully rolled out/],
    ] as const) {
      test(`rollout status, history, undo and restart of a ${kind}`, { timeout: 60_000 }, async () => {
        const what = `${kind.toLowerCase()}/web`;
        const status = () => kubectl.run(['rollout', 'status', what, TIMEOUT]);
        await apply(workload(kind, spec));
        await status();
        await kubectl.run(['set', 'image', what, 'web=web:2']);
        assert.match(await status(), done);
        assert.equal(await imageOf(what), 'web:2');
        const history = rowsOf((await kubectl.run(['rollout', 'history', what])).split('\n').slice(1).join('\n'));
        assert.deepEqual(
          history.map(({ REVISION }) => REVISION),
          ['1', '2'],
        );
        assert.match(await kubectl.run(['rollout', 'history', what, '--revision=1']), /Image:\s+web:1/);
        await kubectl.run(['rollout', 'undo', what]);
        await status();
        assert.equal(await imageOf(what), 'web:1');
        const again = await kubectl.run(['rollout', 'history', what]);
        assert.match(again, /^2 .*\n3 /m);
        await kubectl.run(['rollout', 'restart', what]);
        await status();
        const pods = await kubectl.run([
          'get',
          'pods',
          '-l',
          `app=${kind}`,
          '-o',
          'jsonpath={.items[*].spec.containers[0].image}',
        ]);
        assert.match(pods, /^web:1( web:1)+$/);
      });
    }

    test('scale of a Deployment and a StatefulSet', { timeout: 60_000 }, async () => {
      for (const what of ['deployment/web', 'statefulset/web']) {
        await kubectl.run(['scale', what, '--replicas=4']);
        await kubectl.run(['rollout', 'status', what, TIMEOUT]);
        assert.equal(await kubectl.run(['get', what, '-o', 'jsonpath={.status.readyReplicas}']), '4');
      }
    });

    test('wait for a Job, one made of a CronJob too', { timeout: 60_000 }, async () => {
      const cronJob = {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'sweep' },
        spec: { schedule: '0 0 1 1 *', jobTemplate: job },
      };
      await apply(cronJob);
      await apply({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'once' }, ...job });
      const names = ['once'];
      // 1.20 makes Jobs of CronJobs of a version that is gone.
      if (version !== '1.20') {
        await kubectl.run(['create', 'job', '--from=cronjob/sweep', 'by-hand']);
        names.push('by-hand');
      }
      for (const name of names) {
        await finishPodsOf(client, name);
        const said = await kubectl.run(['wait', '--for=condition=complete', `job/${name}`, TIMEOUT]);
        assert.match(said, /condition met/);
      }
      const rows = rowsOf(await kubectl.run(['get', 'jobs']));
      assert.deepEqual(new Set(rows.map(({ COMPLETIONS }) => COMPLETIONS)), new Set(['1/1']));
    });

    test('drain of a node, no faster than a budget allows', { timeout: 60_000 }, async () => {
      await apply({
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'web' },
        spec: { selector: { matchLabels: { app: 'Deployment' } }, minAvailable: 3 },
      });
      await kubectl.run(['delete', 'jobs', '--all']);
      const drain = ['drain', 'alder-1', '--ignore-daemonsets', '--delete-emptydir-data', TIMEOUT];
      assert.match(await kubectl.run(drain), /node\/alder-1 (evicted|drained)/);
      const left = await kubectl.run([
        'get',
        'pods',
        '--field-selector=spec.nodeName=alder-1',
        '-o',
        'jsonpath={.items[*].metadata.labels.app}',
      ]);
      assert.equal(left, 'DaemonSet');
      await kubectl.run(['rollout', 'status', 'deployment/web', TIMEOUT]);
      await kubectl.run(['uncordon', 'alder-1']);
    });
  });
}

/** Says of the pods of a Job that they have succeeded, as a kubelet would. */
async function finishPodsOf(client: Client, name: string): Promise<void> {
  const pods = client.resource(PODS);
  const find = async () => (await pods.list({ namespace: 'default', labelSelector: `job-name=${name}` })).items[0];
  let pod = await find();
  while (pod === undefined) pod = await find();
  const ref = { namespace: 'default', name: pod.metadata?.name ?? '' };
  await until(client, PODS, ref, ({ status }) => status?.phase !== 'Pending', { timeoutMs: 20_000 });
  await pods.patch(ref, { type: 'merge', body: { status: { phase: 'Succeeded' } } }, { subresource: 'status' });
}
