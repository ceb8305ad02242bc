import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { AsterUp, eventually, temporaryDataDir } from '../../demo/aster-up.ts';
import { Kubectl, rowsOf } from '../../cluster/kubectl.ts';
import { binary, unlessThere } from '../../cluster/real-kubernetes.ts';

describe('the demo, driven by kubectl 1.36', { skip: unlessThere('kubectl-1.36') }, () => {
  let dir: Awaited<ReturnType<typeof temporaryDataDir>>;
  let aster: AsterUp;
  let kubectl: Kubectl;

  before(async () => {
    dir = await temporaryDataDir();
    aster = new AsterUp(dir.path, ['--demo']);
    await aster.ready();
    kubectl = new Kubectl(binary('kubectl-1.36') ?? '', join(dir.path, 'kubeconfig'), dir.path);
  });

  after(async () => {
    await aster[Symbol.asyncDispose]();
    await dir[Symbol.asyncDispose]();
  });

  test('get: the columns that people know', async () => {
    const deployments = rowsOf(await kubectl.run(['-n', 'demo', 'get', 'deployments']));
    assert.equal(deployments.length, 1);
    assert.match(deployments[0]?.['AGE'] ?? '', /^\d+s$/);
    assert.deepEqual(
      { ...deployments[0], AGE: '' },
      { NAME: 'web', READY: '9/9', 'UP-TO-DATE': '9', AVAILABLE: '9', AGE: '' },
    );
    const wide = rowsOf(await kubectl.run(['-n', 'demo', 'get', 'deploy', 'web', '-o', 'wide']));
    assert.equal(wide[0]?.['CONTAINERS'], 'web');
    assert.equal(wide[0]?.['IMAGES'], 'registry.example/web:1.27');
    assert.equal(wide[0]?.['SELECTOR'], 'app=web');
    const clusters = rowsOf(await kubectl.run(['get', 'clusters', '-o', 'wide']));
    assert.deepEqual(
      clusters.map(({ NAME, READY, MODE, NODES, REGION }) => [NAME, READY, MODE, NODES, REGION]),
      [
        ['alder', 'True', 'Push', '3/3', 'eu-central'],
        ['birch', 'True', 'Pull', '2/2', 'us-east'],
        ['cedar', 'True', 'Pull', '4/4', 'ap-south'],
      ],
    );
    assert.match(await kubectl.run(['get', 'cl', 'alder', '-o', 'jsonpath={.spec.region}']), /^eu-central$/);
    const everything = await kubectl.run(['get', 'namespaces,services', '-A', '-o', 'name']);
    assert.match(everything, /^namespace\/demo$/m);
    assert.match(everything, /^service\/web$/m);
  });

  test('describe', async () => {
    const text = await kubectl.run(['-n', 'demo', 'describe', 'deployment', 'web']);
    assert.match(text, /^Name: +web$/m);
    assert.match(text, /^Replicas: +9 desired \| 9 updated \| 9 total \| 9 available \| 0 unavailable$/m);
    assert.match(text, /Image: +registry\.example\/web:1\.27/);
    assert.match(await kubectl.run(['describe', 'cluster', 'cedar']), /Sync Mode: +Pull/);
  });

  test('apply, create, label, annotate, edit, diff, delete', async () => {
    const manifest =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes, namespace: demo}\ndata: {a: "1", b: "2"}\n';
    assert.match(await kubectl.run(['apply', '-f', '-'], { stdin: manifest }), /configmap\/notes created/);
    assert.match(await kubectl.run(['apply', '-f', '-'], { stdin: manifest }), /configmap\/notes unchanged/);
    const changed = manifest.replace('"1", b: "2"', '"9"');
    const diff = await kubectl.try(['diff', '-f', '-'], { stdin: changed });
    assert.equal(diff.code, 1, diff.stderr);
    assert.match(diff.stdout, /^\+ +a: "9"$/m);
    assert.match(await kubectl.run(['apply', '-f', '-'], { stdin: changed }), /configmap\/notes configured/);
    assert.equal(await kubectl.run(['-n', 'demo', 'get', 'cm', 'notes', '-o', 'jsonpath={.data}']), '{"a":"9"}');
    assert.match(
      await kubectl.run(['apply', '--server-side', '--field-manager=test', '-f', '-'], { stdin: changed }),
      /serverside-applied/,
    );
    assert.match(await kubectl.run(['-n', 'demo', 'label', 'cm', 'notes', 'tier=x']), /configmap\/notes labeled/);
    assert.match(
      await kubectl.run(['-n', 'demo', 'annotate', 'cm', 'notes', 'why=test']),
      /configmap\/notes annotated/,
    );
    assert.match(await kubectl.run(['-n', 'demo', 'get', 'cm', '-l', 'tier=x', '-o', 'name']), /^configmap\/notes\n$/);
    const environment = { KUBE_EDITOR: `sed -i 's/a: "9"/a: "10"/'` };
    assert.match(await kubectl.run(['-n', 'demo', 'edit', 'cm', 'notes'], { environment }), /configmap\/notes edited/);
    assert.equal(await kubectl.run(['-n', 'demo', 'get', 'cm', 'notes', '-o', 'jsonpath={.data.a}']), '10');
    assert.match(await kubectl.run(['-n', 'demo', 'delete', 'cm', 'notes']), /configmap "notes" deleted/);
    const gone = await kubectl.try(['-n', 'demo', 'get', 'cm', 'notes']);
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /Error from server \(NotFound\): configmaps "notes" not found/);
  });

  test('create sends protobuf', async () => {
    assert.match(
      await kubectl.run(['-n', 'demo', 'create', 'configmap', 'made', '--from-literal=k=v']),
      /configmap\/made created/,
    );
    assert.match(await kubectl.run(['create', 'namespace', 'scratch']), /namespace\/scratch created/);
    assert.match(
      await kubectl.run(['-n', 'scratch', 'create', 'secret', 'generic', 's', '--from-literal=p=q']),
      /secret\/s created/,
    );
    assert.equal(await kubectl.run(['-n', 'scratch', 'get', 'secret', 's', '-o', 'jsonpath={.data.p}']), 'cQ==');
    const twice = await kubectl.try(['create', 'namespace', 'scratch']);
    assert.match(twice.stderr, /Error from server \(AlreadyExists\): namespaces "scratch" already exists/);
    await kubectl.run(['delete', 'namespace', 'scratch']);
    assert.equal((await kubectl.try(['get', 'namespace', 'scratch'])).code, 1);
  });

  test('an unknown field is refused with its name', async () => {
    const manifest = 'apiVersion: v1\nkind: Service\nmetadata: {name: odd, namespace: demo}\nspec: {prots: []}\n';
    const { code, stderr } = await kubectl.try(['apply', '-f', '-'], { stdin: manifest });
    assert.equal(code, 1);
    assert.match(stderr, /unknown field "spec\.prots"/);
  });

  test('get -w tells what changes as it changes', async () => {
    const child = kubectl.spawn(['-n', 'demo', 'get', 'cm', '-w', '--output-watch-events', '-l', 'watched=yes']);
    let seen = '';
    child.stdout?.on('data', (text) => (seen += String(text)));
    await kubectl.run(['-n', 'demo', 'create', 'cm', 'seen']);
    await eventually(async () => {
      await kubectl.run(['-n', 'demo', 'label', '--overwrite', 'cm', 'seen', 'watched=yes']);
      assert.match(seen, /ADDED +seen/);
    });
    await kubectl.run(['-n', 'demo', 'delete', 'cm', 'seen']);
    await eventually(() => assert.match(seen, /DELETED +seen/));
    child.kill();
    await once(child, 'close');
  });

  test('scale, rollout status, wait', async () => {
    assert.match(
      await kubectl.run(['-n', 'demo', 'scale', 'deployment', 'web', '--replicas', '6']),
      /deployment\.apps\/web scaled/,
    );
    assert.match(
      await kubectl.run(['-n', 'demo', 'rollout', 'status', 'deployment/web', '--timeout=30s']),
      /deployment "web" successfully rolled out/,
    );
    assert.match(
      await kubectl.run(['-n', 'demo', 'wait', '--for=condition=Available', 'deployment/web', '--timeout=30s']),
      /deployment\.apps\/web condition met/,
    );
    await eventually(async () => {
      assert.equal(rowsOf(await kubectl.run(['-n', 'demo', 'get', 'deploy', 'web']))[0]?.['READY'], '6/6');
    });
    assert.match(
      await kubectl.run(['wait', '--for=condition=Ready', 'cluster', '--all', '--timeout=10s']),
      /cedar condition met/,
    );
  });

  test('a policy that is changed moves what it placed; a wrong field in it is named', async () => {
    const selectors = 'resourceSelectors: [{apiVersion: v1, kind: ConfigMap, name: moved}]';
    const policy = (where: string): string =>
      `apiVersion: asterism.dev/v1alpha1\nkind: PropagationPolicy\nmetadata: {name: moved, namespace: demo}\nspec: {${selectors}, placement: {clusterAffinity: ${where}}}\n`;
    const placed = async (): Promise<string> =>
      await kubectl.run(['-n', 'demo', 'get', 'rb', 'moved-configmap', '-o', 'jsonpath={.spec.clusters[*].name}']);
    await kubectl.run(['-n', 'demo', 'create', 'cm', 'moved']);
    await kubectl.run(['apply', '-f', '-'], { stdin: policy('{clusterNames: [birch]}') });
    await eventually(async () => assert.equal(await placed(), 'birch'));
    assert.match(
      await kubectl.run(['apply', '-f', '-'], { stdin: policy('{clusterNames: [alder]}') }),
      /moved configured/,
    );
    await eventually(async () => assert.equal(await placed(), 'alder'));
    const wrong = await kubectl.try(['apply', '-f', '-'], { stdin: policy('{clusterName: [alder]}') });
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /unknown field "spec\.placement\.clusterAffinity\.clusterName"/);
    await kubectl.run(['-n', 'demo', 'delete', 'pp', 'moved']);
    await eventually(async () =>
      assert.equal((await kubectl.try(['-n', 'demo', 'get', 'rb', 'moved-configmap'])).code, 1),
    );
  });

  test('explain, api-resources, auth can-i', async () => {
    assert.match(await kubectl.run(['explain', 'deployment.spec.replicas']), /FIELD: replicas <integer>/);
    assert.match(await kubectl.run(['explain', 'propagationpolicy.spec.placement']), /clusterAffinity/);
    const resources = await kubectl.run(['api-resources']);
    assert.match(resources, /^deployments +deploy +apps\/v1 +true +Deployment$/m);
    assert.match(resources, /^clusters +cl +asterism\.dev\/v1alpha1 +false +Cluster$/m);
    assert.equal(await kubectl.run(['auth', 'can-i', 'delete', 'deployments', '-n', 'demo']), 'yes\n');
    const stranger = await kubectl.try(['auth', 'can-i', 'get', 'secrets', '-n', 'demo', '--as', 'nobody']);
    assert.equal(stranger.stdout, 'no\n');
    const refused = await kubectl.try(['get', 'secrets', '-A', '--as', 'nobody']);
    assert.match(refused.stderr, /Forbidden.*User "nobody" cannot list resource "secrets"/);
  });

  test('the members, through the hub', async () => {
    const server = (
      await kubectl.run(['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}'])
    ).trim();
    const through = (name: string) => ['--server', `${server}/apis/proxy.asterism.dev/v1alpha1/clusters/${name}/proxy`];
    const cedar = rowsOf(await kubectl.run([...through('cedar'), '-n', 'demo', 'get', 'pods']));
    const alder = rowsOf(await kubectl.run([...through('alder'), '-n', 'demo', 'get', 'pods']));
    assert.deepEqual([alder.length, cedar.length], [2, 4]);
    for (const row of [...alder, ...cedar]) assert.deepEqual([row['READY'], row['STATUS']], ['1/1', 'Running']);
    assert.equal(rowsOf(await kubectl.run([...through('cedar'), 'get', 'nodes'])).length, 4);
    const nowhere = await kubectl.try(['get', '--raw', '/apis/proxy.asterism.dev/v1alpha1/clusters/oak/proxy/api']);
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.stderr, /NotFound.*"oak"/);
  });
});
