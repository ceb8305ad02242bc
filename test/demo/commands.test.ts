// Runs beside other tests: it waits for `aster` processes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { CONFIG_MAPS } from '@asterism/machinery';
import { ASTER, AsterUp, eventually, temporaryDataDir } from './aster-up.ts';

let dir: Awaited<ReturnType<typeof temporaryDataDir>>;
let running: AsterUp;

before(async () => {
  dir = await temporaryDataDir();
  running = new AsterUp(dir.path, ['--demo']);
  await running.ready();
});

after(async () => {
  await running[Symbol.asyncDispose]();
  await dir[Symbol.asyncDispose]();
});

interface Output {
  code: number | null;
  stdout: string;
  stderr: string;
}

async function aster(args: readonly string[], environment: Record<string, string> = {}): Promise<Output> {
  const kubeconfig = join(dir.path, 'kubeconfig');
  const child = spawn(process.execPath, [...ASTER, ...args], {
    env: { ...process.env, KUBECONFIG: kubeconfig, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Output = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (text) => (output.stdout += String(text)));
  child.stderr.on('data', (text) => (output.stderr += String(text)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { ...output, code };
}

async function fine(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await aster(args);
  assert.equal(code, 0, `aster ${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

/** First cells of the rows below the header. */
const firstCells = (table: string): string[] =>
  table
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/)[0] ?? '');

test('get: the hub, one member, all of them with the cluster first', async () => {
  assert.deepEqual(firstCells(await fine(['get', 'clusters'])), ['alder', 'birch', 'cedar']);
  assert.match(await fine(['get', 'deploy', 'web', '-n', 'demo']), /^web +9\/9 /m);
  const pods = await fine(['get', 'pods', '-n', 'demo', '-C', 'all']);
  assert.match(pods, /^CLUSTER +NAME +READY +STATUS /);
  const clusters = firstCells(pods);
  assert.deepEqual(
    [clusters.filter((name) => name === 'alder').length, clusters.filter((name) => name === 'cedar').length],
    [3, 6],
  );
  assert.deepEqual(new Set(firstCells(await fine(['get', 'nodes', '-C', 'region=us-east']))), new Set(['birch']));
  assert.match(await fine(['get', 'deploy,svc', '-n', 'demo']), /^deployment\.apps\/web .*^service\/web /ms);
  assert.match(
    await fine(['get', 'all', '-n', 'demo', '-C', 'cedar']),
    /^cedar +pod\/web-.*^cedar +service\/web .*^cedar +deployment\.apps\/web /ms,
  );
  assert.match(await fine(['get', 'namespaces', '-o', 'name']), /^namespace\/demo$/m);
  const object = JSON.parse(await fine(['get', 'deploy/web', '-n', 'demo', '-o', 'json'])) as { kind: string };
  assert.equal(object.kind, 'Deployment');
});

for (const [what, name] of [
  ['a type', []],
  ['one name', ['web-pages']],
] as const) {
  test(`get -w of ${what} goes on from the table that it printed, in every cluster`, async () => {
    const args = ['get', 'configmaps', ...name, '-n', 'demo', '-C', 'alder,cedar', '-w'];
    const child = spawn(process.execPath, [...ASTER, ...args], {
      env: { ...process.env, KUBECONFIG: join(dir.path, 'kubeconfig') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let seen = '';
    child.stdout.on('data', (text) => (seen += String(text)));
    const rows = (cluster: string): string[] =>
      [...seen.matchAll(new RegExp(`^${cluster} +web-pages +(\\d+)`, 'gm'))].map((row) => row[1] ?? '');
    await eventually(() => assert.deepEqual([rows('alder').length, rows('cedar').length], [1, 1]));
    const before = Number(rows('cedar')[0]);
    const maps = (await running.hub()).resource(CONFIG_MAPS);
    const body = { data: { [`${before}.html`]: 'x' } };
    await maps.patch({ namespace: 'demo', name: 'web-pages' }, { type: 'merge', body });
    const changed = [String(before), String(before + 1)];
    await eventually(() => assert.deepEqual([rows('alder'), rows('cedar')], [changed, changed]));
    child.kill();
    await once(child, 'exit');
  });
}

test('get -w of what it cannot show is refused before anything is printed', async () => {
  for (const args of [
    ['get', 'cm', '-w', '-o', 'json'],
    ['get', 'cm', 'a', 'b', '-w'],
  ]) {
    const { code, stdout, stderr } = await aster(args);
    assert.deepEqual([code, stdout], [2, ''], stderr);
    assert.match(stderr, /--watch/);
  }
});

test('what is not there is said, with the code for it', async () => {
  const cluster = await aster(['get', 'pods', '-C', 'oak']);
  assert.equal(cluster.code, 2);
  assert.match(cluster.stderr, /no cluster "oak": there are alder, birch, cedar/);
  const kind = await aster(['get', 'unicorns']);
  assert.equal(kind.code, 1);
  assert.match(kind.stderr, /NotFound.*"unicorns"/);
  const none = await aster(['get', 'pods', '-n', 'nowhere']);
  assert.deepEqual([none.code, none.stdout], [0, '']);
  assert.match(none.stderr, /No resources found in nowhere namespace/);
  const hub = await aster(['get', 'clusters', '--kubeconfig', join(dir.path, 'none')]);
  assert.equal(hub.code, 2);
  assert.match(hub.stderr, /no kubeconfig at .*aster up/);
});

test('why names a reason for every cluster', async () => {
  const text = await fine(['why', 'deploy/web', '-n', 'demo']);
  assert.match(text, /^Deployment demo\/web, 9 replicas, placed by PropagationPolicy web/);
  assert.match(text, /^alder +yes +3 +0 +\d+ +Selected +\S/m);
  assert.match(text, /^birch +no +0 +- +- +ClusterAffinity +.*tier/m);
  assert.match(text, /^cedar +yes +6 +0 +\d+ +Selected +\S/m);
  assert.doesNotMatch(await fine(['why', 'deploy', 'web', '-n', 'demo', '-C', 'birch']), /^alder/m);
  assert.match(await fine(['why', 'namespace/default']), /is placed nowhere: no policy selects it/);
});

test('search: one query over all members', async () => {
  const table = await fine(['search', 'pods', '-n', 'demo']);
  assert.match(table, /^CLUSTER +/);
  assert.equal(firstCells(table).length, 9);
  assert.deepEqual(
    new Set(firstCells(await fine(['search', 'pods', '-l', 'app=web', '-C', 'cedar']))),
    new Set(['cedar']),
  );
  assert.deepEqual(
    new Set(firstCells(await fine(['search', 'nodes', '-C', 'region=us-east']))),
    new Set(firstCells(await fine(['get', 'nodes', '-C', 'region=us-east']))),
  );
  const none = await aster(['search', 'pods', '-C', 'alder,oak']);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /no cluster "oak": there are alder, birch, cedar/);
  const warned = await aster(['search', 'secrets', '-C', 'cedar']);
  assert.equal(warned.code, 0);
  assert.match(
    warned.stderr,
    /^Warning: search: secrets in v1 are not indexed of cedar\nNothing found in any cluster\.\n$/,
  );
  const byField = await fine(['search', 'deploy', '--field-selector', '.spec.replicas>3']);
  assert.deepEqual(firstCells(byField), ['cedar']);
  assert.equal(firstCells(await fine(['search', 'nodes'])).length, 9);
  const odd = await aster(['search', 'pods', '--order-by', 'shoe-size']);
  assert.equal(odd.code, 1);
  assert.match(odd.stderr, /BadRequest.*shoe-size/);
});

test('describe: the object, its placement, its events', async () => {
  const text = await fine(['describe', 'deploy/web', '-n', 'demo']);
  assert.match(text, /^Name: +web$/m);
  assert.match(text, /^Placement:\n +CLUSTER +REPLICAS +APPLIED +HEALTH/m);
  assert.match(text, /^ +cedar +6 +True +Healthy/m);
  assert.match(await fine(['describe', 'node', 'cedar-1', '-C', 'cedar']), /^Cluster: +cedar\nName: +cedar-1$/m);
});

test('apply: says what became of each object', async () => {
  const file = join(dir.path, 'notes.yaml');
  await writeFile(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {a: "1"}\n');
  assert.equal(await fine(['apply', '-f', file, '-n', 'demo']), 'configmap/notes created\n');
  assert.equal(await fine(['apply', '-f', file, '-n', 'demo']), 'configmap/notes unchanged\n');
  await writeFile(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndata: {a: "2"}\n');
  assert.equal(
    await fine(['apply', '-f', file, '-n', 'demo', '--dry-run', 'server']),
    'configmap/notes configured (server dry run)\n',
  );
  assert.equal(await fine(['apply', '-f', file, '-n', 'demo']), 'configmap/notes configured\n');
  assert.equal(await fine(['apply', '-f', file, '-n', 'default', '-C', 'birch']), 'birch: configmap/notes created\n');
  await writeFile(file, 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: notes}\ndaat: {a: "2"}\n');
  const wrong = await aster(['apply', '-f', file, '-n', 'demo']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /daat/);
  await writeFile(file, 'apiVersion: v1\nkind: [\n');
  assert.equal((await aster(['apply', '-f', file])).code, 2);
});

test('a cluster that cannot answer costs its own rows, is named, and ends with 5', async () => {
  const file = join(dir.path, 'widgets.yaml');
  const names = '{plural: widgets, singular: widget, kind: Widget}';
  const schema = '{openAPIV3Schema: {type: object}}';
  await writeFile(
    file,
    `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec: {group: example.com, scope: Namespaced, names: ${names}, versions: [{name: v1, served: true, storage: true, schema: ${schema}}]}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: one, namespace: default}
`,
  );
  await fine(['apply', '-f', file, '-C', 'birch']);
  const { code, stdout, stderr } = await aster(['get', 'widgets', '-C', 'alder,birch']);
  assert.equal(code, 5);
  assert.match(stdout, /^birch +one /m);
  assert.match(stderr, /^alder: .*"widgets"/m);
});

test('members that hang hold nobody up who asks the hub', async () => {
  const members = (await running.processes()).get('members') ?? 0;
  process.kill(members, 'SIGSTOP');
  try {
    assert.deepEqual(firstCells(await fine(['get', 'clusters'])), ['alder', 'birch', 'cedar']);
    assert.equal(firstCells(await fine(['search', 'pods', '-n', 'demo'])).length, 9);
  } finally {
    process.kill(members, 'SIGCONT');
  }
});

test('version, completion and help', async () => {
  assert.match(await fine(['version']), /^aster v\d+\.\d+\.\d+ \(Node\.js v24\.\S+\)\nhub +v1\.36/);
  assert.match(await fine(['version', '--client', '-o', 'json']), /^\{"client":"v/);
  const offline = await aster(['version'], { KUBECONFIG: join(dir.path, 'none') });
  assert.equal(offline.code, 1);
  assert.match(offline.stdout, /^aster v/);
  for (const shell of ['bash', 'zsh', 'fish']) assert.match(await fine(['completion', shell]), /aster __complete/);
  assert.equal((await aster(['completion', 'tcsh'])).code, 2);
  assert.match(await fine(['__complete', '--', 'ge']), /^get$/m);
  assert.equal(await fine(['__complete', '--', 'get', 'pods', '-C', 'c']), 'cedar\n');
  assert.match(await fine(['__complete', '--', 'get', 'propag']), /^propagationpolicies$/m);
  assert.equal(await fine(['__complete', '--', 'why', 'deploy', '-n', 'demo', '']), 'web\n');
  for (const command of ['up', 'get', 'describe', 'apply', 'search', 'why', 'version', 'completion']) {
    assert.match(await fine([command, '--help']), /^Examples:$/m, command);
  }
});
