import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { CONFIG_MAPS, type ConfigMap, isNotFound } from '@asterism/machinery';
import { createController } from '../controller/controller.ts';
import { silentLogger } from '../log/logger.ts';
import { createManager, type Manager } from '../lifecycle/manager.ts';
import { addFinalizer, removeFinalizer } from './patch-finalizer.ts';
import { type CleanupOutcome, withFinalizer } from './with-finalizer.ts';

const FINALIZER = 'example.dev/cleanup';
const OTHER = 'example.dev/other';

let server: TestServer;
let nth = 0;
let name: string;

before(async () => {
  server = await startTestServer();
});
after(() => server.stop());
beforeEach(() => {
  name = `map-${++nth}`;
});

const maps = () => server.client.resource(CONFIG_MAPS);
const ref = () => ({ namespace: 'default', name });
const create = (finalizers?: string[]): Promise<ConfigMap> =>
  maps().create({ metadata: { ...ref(), ...(finalizers ? { finalizers } : {}) } });
const finalizersNow = async (): Promise<string[] | undefined> => (await maps().get(ref())).metadata?.finalizers;
const setFinalizers = (finalizers: string[]): Promise<ConfigMap> =>
  maps().patch(ref(), { type: 'merge', body: { metadata: { finalizers } } });

describe('a finalizer is added', () => {
  const cases: { name: string; begin?: string[]; meanwhile?: string[]; want: string[] }[] = [
    { name: 'to none', want: [FINALIZER] },
    { name: 'beside others', begin: [OTHER], want: [OTHER, FINALIZER] },
    { name: 'once', begin: [FINALIZER], want: [FINALIZER] },
    { name: 'beside one that came meanwhile', meanwhile: [OTHER], want: [OTHER, FINALIZER] },
    { name: 'where the others went meanwhile', begin: [OTHER], meanwhile: [], want: [FINALIZER] },
    { name: 'once, where somebody did meanwhile', meanwhile: [FINALIZER], want: [FINALIZER] },
  ];
  for (const { name: title, begin, meanwhile, want } of cases) {
    test(title, async () => {
      const object = await create(begin);
      if (meanwhile) await setFinalizers(meanwhile);
      const held = await addFinalizer(server.client, { type: CONFIG_MAPS, object, finalizer: FINALIZER });
      assert.deepEqual(held?.metadata?.finalizers, want);
      assert.deepEqual(await finalizersNow(), want);
    });
  }

  test('not to one that is being deleted meanwhile', async () => {
    const object = await create([OTHER]);
    await maps().delete(ref());
    const held = await addFinalizer(server.client, { type: CONFIG_MAPS, object, finalizer: FINALIZER });
    assert.deepEqual(held?.metadata?.finalizers, [OTHER]);
    assert.ok(held?.metadata?.deletionTimestamp);
  });

  test('not to another object of the same name', async () => {
    const object = await create();
    await maps().delete(ref());
    assert.equal(await addFinalizer(server.client, { type: CONFIG_MAPS, object, finalizer: FINALIZER }), undefined);
    await create();
    assert.equal(await addFinalizer(server.client, { type: CONFIG_MAPS, object, finalizer: FINALIZER }), undefined);
    assert.equal(await finalizersNow(), undefined);
  });
});

describe('a finalizer is removed', () => {
  const cases: { name: string; begin: string[]; meanwhile?: string[]; want: string[] | undefined }[] = [
    { name: 'the only one', begin: [FINALIZER], want: undefined },
    { name: 'from among others', begin: [OTHER, FINALIZER, `${OTHER}2`], want: [OTHER, `${OTHER}2`] },
    { name: 'wherever it stands by now', begin: [OTHER, FINALIZER], meanwhile: [FINALIZER, OTHER], want: [OTHER] },
    { name: 'or has been', begin: [FINALIZER], meanwhile: [OTHER], want: [OTHER] },
  ];
  for (const { name: title, begin, meanwhile, want } of cases) {
    test(title, async () => {
      const object = await create(begin);
      if (meanwhile) await setFinalizers(meanwhile);
      await removeFinalizer(server.client, { type: CONFIG_MAPS, object, finalizer: FINALIZER });
      assert.deepEqual((await finalizersNow()) ?? [], want ?? []);
    });
  }

  test('and the object with it, when it was the last', async () => {
    await create([FINALIZER]);
    await maps().delete(ref());
    const object = await maps().get(ref());
    await removeFinalizer(server.client, { type: CONFIG_MAPS, object, finalizer: FINALIZER });
    await assert.rejects(maps().get(ref()), isNotFound);
    assert.equal(await removeFinalizer(server.client, { type: CONFIG_MAPS, object, finalizer: FINALIZER }), undefined);
  });
});

describe('a reconcile with a finalizer', () => {
  let abort: AbortController;
  let manager: Manager;
  let stopped: Promise<void>;
  let said: string[];
  let waiting: Map<string, () => void>;
  let outcomes: CleanupOutcome[];

  const say = (word: string): void => {
    said.push(word);
    waiting.get(word)?.();
  };
  const told = async (word: string): Promise<void> => {
    if (!said.includes(word)) await new Promise<void>((resolve) => waiting.set(word, resolve));
  };

  beforeEach(async () => {
    [said, waiting, outcomes] = [[], new Map(), []];
    abort = new AbortController();
    manager = createManager({ client: server.client, logger: silentLogger });
    const reconcile = withFinalizer({
      type: CONFIG_MAPS,
      finalizer: FINALIZER,
      selects: ({ metadata }) => metadata?.labels?.['held'] !== 'no',
      async reconcile({ metadata }) {
        if (metadata?.name !== name) return;
        say(`reconcile with ${(await finalizersNow())?.join()}`);
      },
      async cleanup() {
        say(`cleanup ${outcomes.length}`);
        return outcomes.shift() ?? 'cleaned';
      },
      absent: async (request) => {
        if (request.name === name) say('absent');
      },
    });
    manager.add(createController({ name: 'test', reconcile }).for(CONFIG_MAPS, { namespace: 'default' }));
    stopped = manager.start(abort.signal);
    await manager.ready();
  });
  afterEach(async () => {
    abort.abort();
    await stopped;
  });

  test('holds the object before it acts, and lets it go when cleaned', async () => {
    outcomes = [{ requeueAfter: 1 }, 'cleaned'];
    await create();
    await told(`reconcile with ${FINALIZER}`);
    await maps().delete(ref());
    await told('cleanup 1');
    await told('absent');
    assert.deepEqual(
      said.filter((word) => word.startsWith('cleanup')),
      ['cleanup 2', 'cleanup 1'],
    );
    await assert.rejects(maps().get(ref()), isNotFound);
  });

  test('cleans up and lets go of what is not selected any more', async () => {
    const label = (held: string | null) =>
      maps().patch(ref(), { type: 'merge', body: { metadata: { labels: { held } } } });
    await create();
    await told(`reconcile with ${FINALIZER}`);
    outcomes = ['cleaned'];
    await label('no');
    await told('absent');
    assert.equal(said.filter((word) => word.startsWith('cleanup')).length, 1);
    assert.deepEqual((await finalizersNow()) ?? [], []);
    said.length = 0;
    await label(null);
    await told(`reconcile with ${FINALIZER}`);
  });

  test('never touches what is not selected', async () => {
    await maps().create({ metadata: { ...ref(), labels: { held: 'no' } } });
    await told('absent');
    assert.equal(await finalizersNow(), undefined);
    assert.deepEqual(said, ['absent']);
  });

  test('leaves one to others that it never held', async () => {
    await create([OTHER]);
    await told(`reconcile with ${OTHER},${FINALIZER}`);
    outcomes = ['cleaned'];
    await maps().delete(ref());
    await told('absent'); // Its own is off; the other's keeps it.
    assert.deepEqual(await finalizersNow(), [OTHER]);
    assert.equal(said.filter((word) => word.startsWith('cleanup')).length, 1);
    await setFinalizers([]);
  });
});

test('a name that is no finalizer is refused at once', () => {
  const make = (finalizer: string) =>
    withFinalizer({ type: CONFIG_MAPS, finalizer, reconcile: async () => {}, cleanup: async () => 'cleaned' });
  assert.throws(() => make('cleanup'), /the finalizer "cleanup" of configmaps is no good: must have a domain/);
  assert.throws(() => make('example.dev/'), TypeError);
});

test('a selector, which would lose sight of what is held, is refused at once', () => {
  const reconcile = withFinalizer({
    type: CONFIG_MAPS,
    finalizer: FINALIZER,
    reconcile: async () => {},
    cleanup: async () => 'cleaned',
  });
  const controller = createController({ name: 'maps', reconcile });
  for (const selector of [{ labelSelector: 'a=b' }, { fieldSelector: 'metadata.name=x' }]) {
    assert.throws(
      () => controller.for(CONFIG_MAPS, selector),
      /^TypeError: controller maps: .* by `selects` of withFinalizer/,
    );
  }
  controller.for(CONFIG_MAPS, { namespace: 'default' });
});
