import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import { CONFIG_MAPS, type ConfigMap, fieldInvalid, type KubeObject } from '@asterism/machinery';
import { createMutatingWebhook, createValidatingWebhook, deny, type Webhook } from '@asterism/runtime';
import { ControlPlane } from '../../cluster/control-plane.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { ServedWebhooks } from './served-webhooks.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const DELETIONS = [{ operations: ['DELETE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
const ANY_MAP = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];

const validating = (path: string, validate: Parameters<typeof createValidatingWebhook<ConfigMap>>[0]['validate']) =>
  createValidatingWebhook({ path, type: CONFIG_MAPS, validate });

const WEBHOOKS: readonly Webhook[] = [
  validating('/allow', () => undefined),
  validating('/deny', () => deny('not today')),
  validating('/deny-fields', () => deny([fieldInvalid('data.a', 'x', 'must be a number')])),
  validating('/warn', (request) => {
    request.warn('data is old-fashioned');
    return undefined;
  }),
  validating('/throw', () => {
    throw new Error('the password is wrong');
  }),
  validating('/hang', () => new Promise(() => {})),
  validating('/keep', ({ operation, oldObject }) => {
    return operation === 'DELETE' && oldObject.data?.['keep'] === 'yes' ? deny('it is to be kept') : undefined;
  }),
  createMutatingWebhook({
    path: '/mutate',
    type: CONFIG_MAPS,
    mutate({ object, userInfo }) {
      const annotations = { ...object.metadata?.annotations, 'example.dev/by': userInfo.username ?? '' };
      return { ...object, metadata: { ...object.metadata, annotations }, data: { ...object.data, b: '2' } };
    },
  }),
  createMutatingWebhook({ path: '/mutate-not', type: CONFIG_MAPS, mutate: () => deny('no changes') }),
];

interface Case {
  /** Also of its configuration, its objects, and their label. */
  name: string;
  path: string;
  /** Of the webhook in its configuration. */
  more?: object;
  expected: Partial<Outcome>;
  /** Part of the message. */
  says?: string;
}

const denied = (name: string, why: string): string =>
  `admission webhook "${name}.example.com" denied the request: ${why}`;

const CASES: readonly Case[] = [
  { name: 'allow', path: '/allow', expected: { code: 201, warnings: [] } },
  { name: 'deny', path: '/deny', expected: { code: 403, message: denied('deny', 'not today') } },
  {
    name: 'deny-fields',
    path: '/deny-fields',
    expected: {
      code: 422,
      message: denied(
        'deny-fields',
        'ConfigMap "deny-fields" is invalid: data.a: Invalid value: "x": must be a number',
      ),
      causes: [{ reason: 'FieldValueInvalid', message: 'Invalid value: "x": must be a number', field: 'data.a' }],
    },
  },
  { name: 'warn', path: '/warn', expected: { code: 201, warnings: ['299 - "data is old-fashioned"'] } },
  { name: 'throw', path: '/throw', expected: { code: 500 }, says: 'the webhook failed; its log says why, with uid ' },
  { name: 'throw-ignored', path: '/throw', more: { failurePolicy: 'Ignore' }, expected: { code: 201 } },
  { name: 'hang', path: '/hang', more: { timeoutSeconds: 1 }, expected: { code: 500 } },
  {
    name: 'hang-ignored',
    path: '/hang',
    more: { timeoutSeconds: 1, failurePolicy: 'Ignore' },
    expected: { code: 201 },
  },
  {
    name: 'mutate',
    path: '/mutate',
    expected: { code: 201, data: { a: '1', b: '2' }, annotations: { 'example.dev/by': 'admin' } },
  },
  { name: 'mutate-not', path: '/mutate-not', expected: { code: 403, message: denied('mutate-not', 'no changes') } },
  { name: 'be-nowhere', path: '/nowhere', expected: { code: 500 }, says: 'there is no webhook at this path' },
  { name: 'speak-beta', path: '/deny', more: { admissionReviewVersions: ['v1beta1'] }, expected: { code: 403 } },
  { name: 'fail-closed', path: '/allow', expected: { code: 201 } },
  { name: 'keep', path: '/keep', more: { objectSelector: {}, rules: DELETIONS }, expected: { code: 201 } },
];

interface Outcome {
  code: number;
  message: string | undefined;
  causes: unknown;
  data: unknown;
  annotations: unknown;
  warnings: string[];
}

async function send(client: Client, method: string, path: string, object?: object): Promise<Outcome> {
  const headers = { 'content-type': 'application/json' };
  const body = object === undefined ? undefined : JSON.stringify(object);
  const answer = await client.request({ method, path, headers, body });
  const text = (await answer.body.toArray()).map(String).join('');
  const value = JSON.parse(text) as ConfigMap & { message?: string; details?: { causes?: unknown } };
  const warnings = [answer.headers['warning'] ?? []].flat();
  const { message, details, data, metadata } = value;
  return { code: answer.status, message, causes: details?.causes, data, annotations: metadata?.annotations, warnings };
}

describe('admission webhooks of the runtime', () => {
  let webhooks: ServedWebhooks;

  before(async () => {
    webhooks = await ServedWebhooks.start(WEBHOOKS);
  });
  after(() => webhooks?.[Symbol.asyncDispose]());

  /** Has a webhook called for the ConfigMaps whose label `case` has that value. */
  async function configure(client: Client, { name, path, more = {} }: Omit<Case, 'expected'>): Promise<void> {
    const webhook = {
      name: `${name}.example.com`,
      clientConfig: webhooks.clientConfig(path),
      rules: ANY_MAP,
      objectSelector: { matchLabels: { case: name } },
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      ...more,
    };
    const type = path.startsWith('/mutate') ? 'mutating' : 'validating';
    const all = `${CONFIGURATIONS}/${type}webhookconfigurations`;
    const made = await send(client, 'POST', all, { metadata: { name }, webhooks: [webhook] });
    assert.equal(made.code, 201, made.message);
  }

  /** Resolves when the API server calls what it was told so far: it learns of configurations one after the other. */
  async function inEffect(client: Client, name: string): Promise<void> {
    for (const path of ['/deny', '/mutate-not']) {
      const marker = `${name}-${path.slice(1)}`;
      await configure(client, { name: marker, path });
      while ((await send(client, 'POST', `${MAPS}?dryRun=All`, map(marker))).code === 201);
    }
  }

  const map = (name: string, data: Record<string, string> = {}): KubeObject => ({
    metadata: { name, labels: { case: name } },
    data,
  });

  /** What is to be seen beside one API server. */
  function reviews(of: () => Client): void {
    before(async () => {
      for (const each of CASES) await configure(of(), each);
      await inEffect(of(), 'cases');
    });

    for (const { name, expected, says = '' } of CASES) {
      test(`a webhook that is to ${name}`, async () => {
        const outcome = await send(of(), 'POST', MAPS, map(name, { a: '1' }));
        for (const [field, value] of Object.entries(expected)) {
          assert.deepEqual(outcome[field as keyof Outcome], value, JSON.stringify(outcome));
        }
        assert.ok((outcome.message ?? '').includes(says), outcome.message);
        assert.doesNotMatch(outcome.message ?? '', /password/);
      });
    }

    test('a deletion that is denied, of one and of all', async () => {
      const [name, webhook] = ['kept', 'keep'];
      assert.equal((await send(of(), 'POST', MAPS, map(name, { keep: 'yes' }))).code, 201);
      for (const path of [`${MAPS}/${name}`, `${MAPS}?labelSelector=case%3D${name}`]) {
        const { code, message } = await send(of(), 'DELETE', path);
        assert.deepEqual([code, message], [403, denied(webhook, 'it is to be kept')]);
      }
      await of()
        .resource(CONFIG_MAPS)
        .update({ ...map(name), metadata: { ...map(name).metadata, namespace: 'default' } });
      assert.equal((await send(of(), 'DELETE', `${MAPS}/${name}`)).code, 200);
    });

    test('certificates are renewed while requests come, and none fails', async () => {
      const end = new AbortController();
      let asked = 0;
      const ask = async (): Promise<void> => {
        while (!end.signal.aborted) {
          const { code, message } = await send(of(), 'POST', `${MAPS}?dryRun=All`, {
            ...map('fail-closed'),
            metadata: { generateName: 'a-', labels: { case: 'fail-closed' } },
          });
          assert.equal(code, 201, message);
          asked++;
        }
      };
      const asking = Promise.all([ask(), ask()]);
      for (let i = 0; i < 3; i++) await webhooks.renew();
      const before = asked;
      while (asked < before + 10) await Promise.race([asking, new Promise(setImmediate)]);
      end.abort();
      await asking;
    });
  }

  describe('beside our API server', () => {
    reviews(() => webhooks.own.client);
  });

  describe('beside a real kube-apiserver', { skip: unlessThere('etcd', 'kube-apiserver') }, () => {
    let plane: ControlPlane;

    before(async () => {
      plane = await ControlPlane.start(webhooks.run, { name: 'plane', controllers: 'none' });
    });
    after(() => plane?.[Symbol.asyncDispose]());

    reviews(() => plane.client);
  });
});
