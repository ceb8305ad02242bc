import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { AGENT_CREDENTIAL_SECRET, CLUSTERS, memberProxyPath, SYSTEM_NAMESPACE } from '@asterism/fleet/api';
import {
  CERTIFICATE_SIGNING_REQUESTS,
  CONFIG_MAPS,
  findCondition,
  isConditionTrue,
  SECRETS,
} from '@asterism/machinery';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import type { RunFolder } from '../../cluster/run-folder.ts';
import { until } from '../../cluster/until.ts';
import { eventually } from '../../demo/aster-up.ts';
import { assertDoors, knock, OPEN, SHUT } from './doors.ts';
import { type JoiningMember, JoiningLab } from './joining-lab.ts';

const run = promisify(execFile);

const GUIDE = fileURLToPath(new URL('../../../docs/how-to/join-a-cluster.md', import.meta.url));
const SEED = fileURLToPath(new URL('../../../../shared/seeds/04-registration.yaml', import.meta.url));
const SEED_GROUP = 'system:bootstrappers:clusternet:register-cluster-token';

const CREDENTIAL = { namespace: SYSTEM_NAMESPACE, name: AGENT_CREDENTIAL_SECRET };

/** The two ways without `aster` that the guide shows, as it shows them. */
function decisionsOfGuide(): string[] {
  const blocks = readFileSync(GUIDE, 'utf8').matchAll(/not run: it is decided already.*?-->\n```sh\n(.*?)```/gs);
  return [...blocks].map(([, command = '']) => command);
}

const CONFIGURATION = {
  apiVersion: 'asterism.dev/v1alpha1',
  kind: 'HubConfiguration',
  metadata: { name: 'hub' },
  spec: {
    approvalRules: [
      {
        name: 'stores',
        tokenGroups: ['system:bootstrappers:asterism:register'],
        namePattern: 'store-*',
        labels: { tier: 'edge' },
        setLabels: { team: 'retail' },
      },
      { name: 'seed', tokenGroups: [SEED_GROUP], namePattern: 'clusternet-*' },
    ],
  },
};

/**
 * How clusters come to a hub, stay and go, told with processes and the real kubectl. `open` starts a hub whose signer gives
 * certificates of about a minute.
 */
export function describeJoining(form: string, needs: readonly string[], open: (run: RunFolder) => Promise<FleetHub>) {
  describe(`joining ${form}`, { skip: unlessThere('kubectl-1.20', 'kubectl-1.36', ...needs) }, () => {
    let lab: JoiningLab;
    let one: JoiningMember;
    let two: JoiningMember;
    /** The first certificate of `edge-1`. */
    let first: Awaited<ReturnType<JoiningLab['kept']>>;

    before(async () => {
      lab = await JoiningLab.start(open);
      [one, two] = await Promise.all([
        lab.join('edge-1', ['--auto-approve', '--cluster', 'edge-1', '--label', 'tier=gold', '--region', 'eu'], {
          flags: ['--labels', 'tier=platinum', '--provider', 'own'],
        }),
        lab.join('edge-2', ['--auto-approve', '--cluster', 'edge-2']),
      ]);
      await Promise.all([lab.ready(one), lab.ready(two)]);
      first = await lab.kept(one);
    });
    after(() => lab?.[Symbol.asyncDispose]());

    test('by the promise of a token', async () => {
      const [registration] = await lab.registrations('edge-1');
      assert.equal(findCondition(registration?.status?.conditions, 'Complete')?.reason, 'ApprovedByToken');
      const { metadata, spec } = await lab.admin.resource(CLUSTERS).get({ name: 'edge-1' });
      assert.deepEqual([metadata.labels, spec.region, spec.provider], [{ tier: 'gold' }, 'eu', undefined]);
      assert.deepEqual(registration?.status?.refused, { labels: { tier: 'platinum' }, provider: 'own' });
    });

    test('by `aster approve`', async () => {
      const member = await lab.join('edge-3');
      await lab.registration('edge-3', 'AwaitingApproval');
      assert.equal(await lab.aster('approve', 'edge-3'), 'edge-3 approved\n');
      await lab.ready(member);
      await member.agent.stop();
    });

    for (const [index, version] of ['1.36', '1.20'].entries()) {
      test(`by kubectl ${version}, with the words of the guide`, async () => {
        const name = `edge-by-${version.replace('.', '-')}`;
        const member = await lab.join(name);
        const { metadata } = await lab.registration(name, 'AwaitingApproval');
        const command = decisionsOfGuide()[index] ?? 'false';
        const PATH = await lab.pathWith(`kubectl-${version}`);
        const env = { ...process.env, PATH, KUBECONFIG: lab.hub.kubeconfig, REGISTRATION: metadata.name };
        await run('bash', ['-euo', 'pipefail', '-c', command], { env });
        await lab.ready(member);
        const settled = await lab.registration(name, 'ApprovedByPerson');
        assert.equal(settled.status?.decidedBy, 'me');
        await member.agent.stop();
      });
    }

    test('by a rule, where all of it fits', async () => {
      await lab.kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(CONFIGURATION) });
      await lab.kubectl.run(['wait', '--for', 'condition=Valid', 'hubconfiguration/hub', '--timeout', '20s']);
      const member = await lab.join('store-1', [], { flags: ['--labels', 'tier=edge'] });
      await lab.ready(member);
      const { metadata } = await lab.admin.resource(CLUSTERS).get({ name: 'store-1' });
      assert.deepEqual(metadata.labels, { tier: 'edge', team: 'retail' });
      assert.equal((await lab.registration('store-1', 'ApprovedByRule')).status?.decidedBy, 'rule stores');
      await member.agent.stop();
      const other = await lab.join('store-2', [], { flags: ['--labels', 'tier=core'] });
      await lab.registration('store-2', 'AwaitingApproval');
      // The rule that lets in whom it did not is not there before he asks.
      const rules = CONFIGURATION.spec.approvalRules.map((rule) => ({ ...rule, labels: {} }));
      const spec = { approvalRules: rules };
      await lab.kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify({ ...CONFIGURATION, spec }) });
      await lab.ready(other);
      await other.agent.stop();
    });

    test('what a schema can tell of a rule is refused, the rest is told in the status, and lets nobody in', async () => {
      const apply = (rule: object) => {
        const spec = { approvalRules: [{ name: 'r', tokenGroups: [SEED_GROUP], ...rule }] };
        const stdin = JSON.stringify({ ...CONFIGURATION, spec });
        return lab.kubectl.try(['apply', '-f', '-'], { stdin });
      };
      for (const rule of [
        { tokenGroups: [] },
        { tokenGroups: ['system:authenticated'] },
        { namePattern: '^a.*$' },
        { name: '' },
      ]) {
        const { code, stderr } = await apply(rule);
        assert.equal(code, 1, JSON.stringify(rule));
        assert.match(stderr, /spec\.approvalRules/);
      }
      assert.equal((await apply({ setLabels: { 'asterism.dev/cluster': 'x' } })).code, 0);
      await lab.kubectl.run(['wait', '--for', 'condition=Valid=False', 'hubconfiguration/hub', '--timeout', '20s']);
      const told = await lab.kubectl.run([
        'get',
        'hubconfiguration',
        'hub',
        '-o',
        'jsonpath={.status.conditions[0].message}',
      ]);
      assert.match(told, /rule r: setLabels: asterism\.dev\/cluster is the hub's own/);
      await lab.kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify(CONFIGURATION) });
    });

    test('by the seed’s bootstrap token, as it stands', { skip: !existsSync(SEED) && `no ${SEED}` }, async () => {
      const documents = parseAllDocuments(readFileSync(SEED, 'utf8'));
      const secret = documents.map(String).find((text) => /^kind: Secret$/m.test(text)) ?? '';
      assert.match(secret, /^type: bootstrap\.kubernetes\.io\/token$/m);
      await lab.kubectl.run(['apply', '-f', '-'], { stdin: secret });
      const word = (key: string): string => new RegExp(`${key}: (\\S+)`).exec(secret)?.[1] ?? '';
      const token = `${word('token-id')}.${word('token-secret')}`;
      const member = await lab.join('clusternet-cluster-pmlbp', { token });
      await lab.ready(member);
      await member.agent.stop();
      const stranger = await lab.join('not-of-the-seed', { token });
      await lab.registration('not-of-the-seed', 'AwaitingApproval');
      await stranger.agent.stop();
    });

    test('who is denied says so, ends, and asks for nothing new when it is started again', async () => {
      const member = await lab.join('edge-denied');
      await lab.registration('edge-denied', 'AwaitingApproval');
      await lab.aster('approve', 'edge-denied', '--deny', '--reason', 'not one of ours');
      const requests = async () => (await lab.admin.resource(CERTIFICATE_SIGNING_REQUESTS).list()).items;
      const asked = async () =>
        (await requests()).filter(({ metadata }) => metadata?.name?.startsWith('edge-denied-')).length;
      const before_ = await asked();
      for (const again of [false, true, true]) {
        if (again) await member.agent.start();
        await member.agent.exited();
        assert.match(String(await member.agent.ended()), /\(exit code 6\)/);
      }
      const said = (await lab.logOf(member)).match(/the hub denied .*not one of ours/g) ?? [];
      assert.equal(said.length, 3);
      assert.equal((await lab.registrations('edge-denied')).length, 1);
      assert.equal(await asked(), before_);
    });

    test('a name that is taken is refused, with what to do', async () => {
      const member = await lab.join('edge-2', ['--auto-approve']);
      await member.agent.exited();
      assert.match(await lab.logOf(member), /joined as "edge-2": choose another name.*aster leave edge-2/);
      assert.match(String(await member.agent.ended()), /\(exit code 6\)/);
    });

    test('a known cluster without its key waits for a person; then the old key is out within a second', async () => {
      const member = await lab.join('edge-4', ['--auto-approve']);
      await lab.ready(member);
      const old = await lab.kept(member);
      await member.agent.stop();
      await member.server.client.resource(SECRETS).delete(CREDENTIAL);
      const again = await lab.join('edge-4', ['--auto-approve'], { server: member.server });
      const { metadata, spec } = await lab.registration('edge-4', 'KeyDiffers');
      const request = await lab.admin.resource(CERTIFICATE_SIGNING_REQUESTS).get({ name: spec.certificateRequest });
      assert.equal(request.status?.certificate, undefined);
      const own = { name: 'its Cluster', path: '/apis/asterism.dev/v1alpha1/clusters/edge-4' };
      assert.equal(await knock(old.client, own), 200);
      assert.equal(await lab.aster('approve', metadata.name ?? ''), 'edge-4 approved\n');
      const approved = performance.now();
      while ((await knock(old.client, own)) !== 403) assert.ok(performance.now() - approved < 1_000);
      await lab.ready(again);
      await again.agent.stop();
    });

    describe('every other door, tried with an agent’s credential', () => {
      test('opens what is its own', async () => assertDoors((await lab.kept(one)).client, OPEN, 200));
      for (const [name, doors] of Object.entries(SHUT)) {
        test(`does not open ${name}`, async () => assertDoors((await lab.kept(one)).client, doors, 403));
      }
    });

    test('a certificate is renewed in time, with the same key, and the tunnel stays', async () => {
      const path = `${memberProxyPath('edge-1')}/api/v1/namespaces/default/configmaps?watch=true`;
      const watch = lab.kubectl.spawn(['get', '--raw', path]);
      let seen = '';
      watch.stdout?.on('data', (text) => (seen += String(text)));
      const configMaps = one.server.client.resource(CONFIG_MAPS);
      const changeSeen = async (name: string): Promise<void> => {
        await configMaps.create({ metadata: { namespace: 'default', name } });
        await eventually(() => assert.match(seen, new RegExp(`"${name}"`)));
      };
      await changeSeen('before');
      await until(
        one.server.client,
        SECRETS,
        CREDENTIAL,
        ({ data = {} }) =>
          new X509Certificate(Buffer.from(data['tls.crt'] ?? '', 'base64')).serialNumber !==
          first.certificate.serialNumber,
      );
      await changeSeen('after');
      assert.equal(watch.exitCode, null);
      watch.kill();
      const { certificate } = await lab.kept(one);
      assert.equal(certificate.subject, first.certificate.subject);
      const keyOf = ({ publicKey }: typeof certificate) => publicKey.export({ type: 'spki', format: 'pem' });
      assert.equal(keyOf(certificate), keyOf(first.certificate));
      const told = await until(lab.admin, CLUSTERS, { name: 'edge-1' }, ({ status }) =>
        isConditionTrue(status?.conditions, 'CertificateCurrent'),
      );
      assert.match(findCondition(told.status?.conditions, 'CertificateCurrent')?.message ?? '', /good until/);
      assert.doesNotMatch(await lab.logOf(one), /tunnel (lost|is down)/);
    });

    test('a Cluster that is deleted: within a second its tunnel is cut and its agent is refused', async () => {
      const { client } = await lab.kept(two);
      const path = `${memberProxyPath('edge-2')}/version`;
      await lab.kubectl.run(['delete', 'cluster', 'edge-2', '--wait=false']);
      const deleted = performance.now();
      const shut = async (): Promise<boolean> => {
        const own = await Promise.all(
          OPEN.map((door) => knock(client, { ...door, path: door.path.replaceAll('edge-1', 'edge-2') })),
        );
        return own.every((status) => status === 403) && (await knock(lab.admin, { name: 'its member', path })) === 404;
      };
      while (!(await shut())) assert.ok(performance.now() - deleted < 1_000, 'its doors are open after a second');
      await two.agent.exited();
      assert.match(await lab.logOf(two), /has the cluster left|does not take this agent's certificate/);
      await eventually(async () => {
        assert.deepEqual((await lab.kubectl.run(['get', 'namespaces', '-o', 'name'])).match(/cluster-edge-2$/m), null);
      });
    });
  });
}
