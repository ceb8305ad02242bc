import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { ManualClock } from '@asterism/client/testing';
import { objectKey } from '@asterism/machinery';
import { clusterNamespace, type Work } from '../../api/index.ts';
import { DueWorks, PATIENCE_MS } from './due-works.ts';

const KINDS: Readonly<Record<string, string>> = {
  account: 'v1/ServiceAccount',
  conf: 'v1/ConfigMap',
  key: 'v1/Secret',
};

interface Parts {
  generation?: number;
  /** The generation that its status tells of. */
  told?: number;
  suspended?: boolean;
  going?: boolean;
}

/** A Work of one object of the namespace `shop`, of the kind that its name tells: `web` is a Deployment. */
function work(name: string, { generation = 1, told, suspended, going }: Parts = {}): Work {
  const [apiVersion, kind] = KINDS[name]?.split('/') ?? ['apps/v1', 'Deployment'];
  return {
    apiVersion: 'asterism.dev/v1alpha1',
    kind: 'Work',
    metadata: {
      name,
      namespace: clusterNamespace('ant'),
      generation,
      ...(going ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: {
      manifests: [{ apiVersion, kind, metadata: { namespace: 'shop', name } }],
      ...(suspended ? { suspendDispatching: true } : {}),
    },
    ...(told === undefined ? {} : { status: { observedGeneration: told } }),
  } as Work;
}

describe('whose turn it is', () => {
  let clock: ManualClock;
  let released: string[];
  let due: DueWorks;

  beforeEach(() => {
    clock = new ManualClock();
    released = [];
    due = new DueWorks(clock, ({ metadata }) => released.push(metadata.name ?? ''));
  });

  const see = (...works: Work[]): void => works.forEach((each) => due.see(each));
  const apply = (...works: Work[]): void => {
    for (const each of works) {
      due.begin(each);
      due.end(each);
    }
  };
  const isHeld = (each: Work): boolean => due.left(each) > 0;
  const web = work('web');
  const conf = work('conf');
  const account = work('account');

  test('who needs nothing that is due waits for nobody', () => {
    see(web);
    assert.equal(due.left(web), 0);
    assert.deepEqual(clock.pending(), []);
  });

  test('one after the other, each as soon as what it needs was tried', () => {
    see(web, conf, account);
    assert.deepEqual([web, conf, account].map(isHeld), [true, true, false]);
    apply(account);
    assert.deepEqual(released, ['conf']);
    apply(conf);
    assert.deepEqual(released, ['conf', 'web']);
    assert.deepEqual([web, conf].map(isHeld), [false, false]);
    apply(web);
    assert.deepEqual(clock.pending(), []);
  });

  test('one waits for all of a stage', () => {
    const key = work('key');
    see(conf, key, web);
    assert.ok(isHeld(web));
    apply(conf);
    assert.deepEqual(released, []);
    apply(key);
    assert.deepEqual(released, ['web']);
  });

  test('what comes later to a place that was seen empty is not waited for', () => {
    see(web, conf);
    assert.ok(isHeld(web));
    see(account);
    apply(conf);
    assert.deepEqual(released, ['web']);
    assert.ok(!isHeld(web));
  });

  const notWaitedFor: { name: string; each: Work }[] = [
    { name: 'was tried by whoever told so', each: work('conf', { told: 1 }) },
    { name: 'is held back', each: work('conf', { suspended: true }) },
    { name: 'goes', each: work('conf', { going: true }) },
  ];
  for (const { name, each } of notWaitedFor)
    test(`what ${name} is not waited for`, () => {
      see(each, web);
      assert.ok(!isHeld(web));
    });
  for (const { name, each } of notWaitedFor)
    test(`what ${name} is waited for no longer`, () => {
      see(conf, web);
      assert.ok(isHeld(web));
      const { generation = 1 } = each.metadata;
      const isTold = each.status !== undefined;
      see({ ...each, metadata: { ...each.metadata, generation: isTold ? generation : generation + 1 } });
      assert.deepEqual(released, ['web']);
    });

  test('a Work that is gone is waited for no longer', () => {
    see(conf, web);
    assert.ok(isHeld(web));
    due.forget(objectKey(conf));
    assert.deepEqual(released, ['web']);
  });

  test('what was tried waits for nobody, until it changes', () => {
    see(web);
    apply(web);
    see(conf);
    assert.ok(!isHeld(web));
    see(work('web', { told: 1 }));
    assert.ok(!isHeld(web));
    see(work('web', { generation: 2, told: 1 }));
    assert.ok(isHeld(work('web', { generation: 2, told: 1 })));
  });

  test('a change of what stood is waited for', () => {
    see(work('conf', { told: 1 }), web);
    see(work('conf', { generation: 2, told: 1 }));
    assert.ok(isHeld(web));
    apply(work('conf', { generation: 2 }));
    assert.deepEqual(released, ['web']);
  });

  test('what has changed while it was applied is waited for still', () => {
    see(conf, web);
    assert.ok(isHeld(web));
    due.begin(conf);
    const changed = work('conf', { generation: 2 });
    see(changed);
    due.end(conf);
    assert.deepEqual(released, []);
    apply(changed);
    assert.deepEqual(released, ['web']);
  });

  test('nobody waits for longer than that, however much keeps coming', () => {
    see(web, conf);
    assert.equal(due.left(web), PATIENCE_MS);
    clock.advance(PATIENCE_MS - 1);
    see(work('key'), work('web', { generation: 2 }));
    assert.ok(isHeld(web));
    clock.advance(1);
    assert.deepEqual(released, ['web']);
    assert.ok(!isHeld(work('web', { generation: 2 })));
  });

  test('what takes longer is waited for by nobody, as long as it takes', () => {
    see(conf, web);
    due.begin(conf);
    clock.advance(1);
    assert.ok(isHeld(web));
    clock.advance(PATIENCE_MS - 1);
    assert.deepEqual(released, ['web']);
    const late = work('late');
    see(late);
    assert.ok(!isHeld(late));
    due.begin(conf); // again, for it could not be reached
    assert.ok(!isHeld(late));
    assert.deepEqual(clock.pending(), []);
  });

  test('what is being applied is waited for though it is told of: a definition is, before it is established', () => {
    see(conf, web);
    due.begin(conf);
    see(work('conf', { told: 1 }));
    assert.ok(isHeld(web));
    due.end(conf);
    assert.deepEqual(released, ['web']);
  });

  test('in a cluster that answers again all begins anew', () => {
    see(conf, web);
    assert.ok(isHeld(web));
    due.begin(conf);
    clock.advance(PATIENCE_MS);
    assert.ok(!isHeld(web));
    due.renew([web, conf]);
    assert.equal(due.left(web), PATIENCE_MS);
    apply(conf);
    assert.deepEqual(released, ['web', 'web']);
    assert.ok(!isHeld(web));
    apply(web);
    assert.deepEqual(clock.pending(), []);
  });
});
