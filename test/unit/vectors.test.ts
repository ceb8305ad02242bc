import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../scripts/vectors.ts', import.meta.url));
const FLAGS = ['--conditions=asterism-source', '--disable-warning=ExperimentalWarning'];

const cluster = (name: string) => ({
  metadata: { name },
  spec: { syncMode: '' },
  status: { resourceSummary: { allocatable: { cpu: '4', pods: '9' }, allocated: { cpu: '1', pods: '1' } } },
});
const vector = (replicas: number, outcome: object) => ({
  clusters: [cluster('a'), cluster('b')],
  scores: [0, 0],
  spec: {
    resource: { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'd', name: 'x', uid: 'u' },
    replicaRequirements: { resourceRequest: { cpu: '1' } },
    replicas,
    placement: { replicaScheduling: { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Aggregated' } },
  },
  status: {},
  ...outcome,
});

describe('npm run vectors', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vectors-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function replay(...lines: string[]): Promise<{ code: number; out: string; err: string }> {
    await writeFile(join(folder, 'some.jsonl'), `${lines.join('\n')}\n`);
    return run('some.jsonl');
  }

  function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const { promise, resolve } = Promise.withResolvers<{ code: number; out: string; err: string }>();
    const env = { ...process.env, INIT_CWD: folder };
    execFile(process.execPath, [...FLAGS, SCRIPT, ...args], { env }, (error, out, err) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err });
    });
    return promise;
  }

  const same = JSON.stringify(vector(3, { result: [{ name: 'a', replicas: 3 }] }));
  const refused = JSON.stringify(vector(7, { err: 'Clusters available replicas 6 are not enough to schedule.' }));

  test('what comes out the same is counted, refusals too', async () => {
    assert.deepEqual(await replay(same, '', refused), { code: 0, out: 'matched 2 of 2\n', err: '' });
  });

  test('each difference is printed with its line, and ends with 1', async () => {
    const other = JSON.stringify(vector(3, { result: [{ name: 'b', replicas: 3 }] }));
    const { code, out } = await replay(same, other, '{}');
    assert.equal(code, 1);
    assert.equal(
      out,
      'line 2\n  wanted b=3\n  got    a=3\nline 3 cannot be replayed: it has no clusters\nmatched 1 of 3\n',
    );
  });

  test('without a file to read it ends with 2', async () => {
    assert.match((await run()).err, /^usage: npm run vectors -- FILE/);
    const missing = await run('missing.jsonl');
    assert.deepEqual([missing.code, missing.out], [2, '']);
    assert.match(missing.err, /^vectors: ENOENT/);
  });
});
