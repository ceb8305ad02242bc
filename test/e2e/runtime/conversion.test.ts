import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { CUSTOM_RESOURCE_DEFINITIONS, isNotFound, type KubeObject, type ResourceType } from '@asterism/machinery';
import { createConversionWebhook, createConvertedKind } from '@asterism/runtime';
import { ControlPlane } from '../../cluster/control-plane.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { ServedWebhooks } from './served-webhooks.ts';

interface Tab extends KubeObject {
  spec: { schedule: string };
}
interface OldTab extends KubeObject {
  spec: { minute: string; hour: string };
}

const tabs = <T extends KubeObject>(version: string): ResourceType<T> => ({
  group: 'example.dev',
  version,
  resource: 'tabs',
  kind: 'Tab',
  namespaced: true,
});

const WEBHOOK = createConversionWebhook({
  kinds: [
    createConvertedKind(tabs<Tab>('v2')).spoke(tabs<OldTab>('v1'), {
      toHub: ({ spec: { minute, hour } }) => ({ spec: { schedule: `${minute} ${hour}` } }),
      fromHub({ spec: { schedule } }) {
        const [minute = '', hour] = schedule.split(' ');
        if (hour === undefined) throw new Error(`the schedule "${schedule}" has no hour`);
        return { spec: { minute, hour } };
      },
    }),
  ],
});

describe('conversion webhooks of the runtime, beside a real kube-apiserver', {
  skip: unlessThere('etcd', 'kube-apiserver'),
}, () => {
  let webhooks: ServedWebhooks;
  let plane: ControlPlane;

  before(async () => {
    webhooks = await ServedWebhooks.start([WEBHOOK]);
    plane = await ControlPlane.start(webhooks.run, { name: 'plane', controllers: 'none' });
  });
  after(async () => {
    await plane?.[Symbol.asyncDispose]();
    await webhooks?.[Symbol.asyncDispose]();
  });

  test('custom resources are converted between their versions', async () => {
    const { client } = plane;
    await client
      .resource<KubeObject>(CUSTOM_RESOURCE_DEFINITIONS)
      .create(definition(webhooks.clientConfig('/convert')));
    const head = (version: string): object => ({ apiVersion: `example.dev/${version}`, kind: 'Tab' });
    const [old, now] = [client.resource(tabs<OldTab>('v1')), client.resource(tabs<Tab>('v2'))];
    const at = { namespace: 'default', name: 'a' };
    const spec = { minute: '5', hour: '4' };
    const made = await served(() => old.create({ ...head('v1'), metadata: { ...at, labels: { l: '1' } }, spec }));
    assert.deepEqual(made.spec, spec);
    const shown = await now.get(at);
    assert.deepEqual([shown.apiVersion, shown.spec], ['example.dev/v2', { schedule: '5 4' }]);
    assert.deepEqual([shown.metadata?.uid, shown.metadata?.labels], [made.metadata?.uid, { l: '1' }]);
    await now.create({ ...head('v2'), metadata: { ...at, name: 'b' }, spec: { schedule: '1 2 3' } });
    const { items } = await old.list({ namespace: 'default' });
    assert.deepEqual(
      items.map((each) => each.spec),
      [spec, { minute: '1', hour: '2' }],
    );
    await now.create({ ...head('v2'), metadata: { ...at, name: 'c' }, spec: { schedule: 'never' } });
    const why =
      /conversion webhook for example.dev\/v2, Kind=Tab failed: cannot convert Tab default\/c from example.dev\/v2 to example.dev\/v1: the schedule "never" has no hour/;
    await assert.rejects(old.get({ ...at, name: 'c' }), why);
  });
});

/** A kind is served some time after its definition is stored. */
async function served<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }
}

function definition(clientConfig: object): KubeObject {
  const version = (name: string, storage: boolean): object => ({
    name,
    served: true,
    storage,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  });
  return {
    metadata: { name: 'tabs.example.dev' },
    spec: {
      group: 'example.dev',
      names: { kind: 'Tab', plural: 'tabs' },
      scope: 'Namespaced',
      versions: [version('v1', false), version('v2', true)],
      conversion: { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } },
    },
  };
}
