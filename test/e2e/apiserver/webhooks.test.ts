import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startTestServer, type TestServer } from '@asterism/apiserver/testing';
import { type Connection, createTransport, type HttpTransport } from '@asterism/client';
import { ControlPlane } from '../../cluster/control-plane.ts';
import { Kubectl } from '../../cluster/kubectl.ts';
import { requiredBinary, unlessThere } from '../../cluster/real-kubernetes.ts';
import { writeKubeconfig } from '../../cluster/kubeconfig-file.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { WebhookProcess } from '../../cluster/webhook-process.ts';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

interface Outcome {
  status: number;
  body: Record<string, unknown>;
  warnings: string[];
}

/** One API server, ours or the real one. */
class Side {
  readonly transport: HttpTransport;
  readonly connection: Connection;

  constructor(connection: Connection) {
    this.connection = connection;
    this.transport = createTransport(connection);
  }

  async send(method: string, path: string, value?: object, type = 'application/json'): Promise<Outcome> {
    const { status, headers, body } = await this.transport.request({
      method,
      path,
      headers: { 'content-type': type, accept: 'application/json' },
      body: value === undefined ? undefined : JSON.stringify(value),
    });
    const text = (await body.toArray()).map(String).join('');
    return { status, body: JSON.parse(text) as Outcome['body'], warnings: [headers['warning'] ?? []].flat() };
  }
}

interface Case {
  path: string;
  type?: 'Mutating' | 'Validating';
  webhook?: Record<string, unknown>;
  query?: string;
  /** The message of 1.20 is another one: its code counts. */
  isReworded?: true;
}

const both = (path: string): Case[] => [{ path }, { path, type: 'Validating' }];

const CASES: readonly Case[] = [
  ...both('/allow'),
  { path: '/label' },
  { path: '/label', type: 'Validating' },
  { path: '/data' },
  ...both('/deny'),
  ...both('/deny-silently'),
  { path: '/deny-reason' },
  { path: '/deny-code' },
  { path: '/deny-200' },
  { path: '/deny-500' },
  { path: '/deny-details' },
  ...both('/warn'),
  { path: '/hang', webhook: { timeoutSeconds: 1 } },
  { path: '/hang', type: 'Validating', webhook: { timeoutSeconds: 1, failurePolicy: 'Ignore' } },
  ...both('/html'),
  { path: '/html', webhook: { failurePolicy: 'Ignore' } },
  { path: '/garbage' },
  { path: '/array' },
  { path: '/empty-object' },
  { path: '/not-a-review' },
  { path: '/status-500' },
  { path: '/status-404' },
  { path: '/status-403' },
  { path: '/close' },
  ...both('/wrong-uid'),
  { path: '/bad-base64', isReworded: true },
  { path: '/no-patch-type' },
  { path: '/other-patch-type' },
  { path: '/no-patch' },
  { path: '/patch-no-json', isReworded: true },
  { path: '/patch-object', isReworded: true },
  { path: '/patch-replace-missing' },
  { path: '/patch-remove-missing' },
  { path: '/patch-add-below-missing' },
  { path: '/patch-test' },
  { path: '/patch-copy-missing' },
  { path: '/patch-unknown-op' },
  { path: '/patch-kind' },
  { path: '/patch-type-of-field', isReworded: true },
  { path: '/patch-unknown-field' },
  { path: '/patch-invalid' },
  { path: '/patch-namespace' },
  { path: '/patch-name' },
  { path: '/patch-nothing' },
  { path: '/allow', query: '?dryRun=All&fieldManager=me' },
  { path: '/allow', webhook: { sideEffects: 'NoneOnDryRun' }, query: '?dryRun=All' },
  { path: '/label', webhook: { admissionReviewVersions: ['v1beta1', 'v1'] } },
  { path: '/wrong-uid', webhook: { admissionReviewVersions: ['v1beta1'] } },
];

const nameOf = (index: number): string => `case-${index}`;

describe('admission webhooks beside a real kube-apiserver', {
  skip: unlessThere('etcd', 'kube-apiserver', 'kubectl-1.36'),
}, () => {
  let run: RunFolder;
  let webhook: WebhookProcess;
  let foreign: WebhookProcess;
  let elsewhere: WebhookProcess;
  let plane: ControlPlane;
  let own: TestServer;
  let sides: readonly [ours: Side, theirs: Side];

  function configuration({ path, type = 'Mutating', webhook: more = {} }: Case, name: string): object {
    return {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${type}WebhookConfiguration`,
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          clientConfig: {
            url: `https://127.0.0.1:${webhook.port}${path}`,
            caBundle: Buffer.from(webhook.ca.cert).toString('base64'),
          },
          rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
          objectSelector: { matchLabels: { case: name } },
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          timeoutSeconds: 10,
          ...more,
        },
      ],
    };
  }

  const pathOf = (type = 'Mutating'): string => `${CONFIGURATIONS}/${type.toLowerCase()}webhookconfigurations`;

  /** Resolves when the side calls the webhooks of a configuration that denies what is labelled with its name. */
  async function inEffect(side: Side, type: 'Mutating' | 'Validating'): Promise<void> {
    const name = `ready-${type.toLowerCase()}`;
    await side.send('POST', pathOf(type), configuration({ path: '/deny', type }, name));
    const object = { metadata: { name, labels: { case: name } } };
    while ((await side.send('POST', `${CONFIG_MAPS}?dryRun=All`, object)).status === 201);
  }

  before(async () => {
    run = await RunFolder.open();
    [webhook, foreign, elsewhere] = await Promise.all([
      WebhookProcess.start(['127.0.0.1']),
      WebhookProcess.start(['127.0.0.1']),
      WebhookProcess.start(['10.0.0.1'], ['other.example.com']),
    ]);
    [plane, own] = await Promise.all([
      ControlPlane.start(run, { name: 'plane', controllers: 'none' }),
      startTestServer({ controllers: false, admissionPlugins: { disable: ['ServiceAccount'] } }),
    ]);
    sides = [new Side(own.connection), new Side(plane.connection)];
    await Promise.all(
      sides.map(async (side) => {
        for (const [index, each] of CASES.entries()) {
          const made = await side.send('POST', pathOf(each.type), configuration(each, nameOf(index)));
          assert.equal(made.status, 201, JSON.stringify(made.body));
        }
        await inEffect(side, 'Mutating');
        await inEffect(side, 'Validating');
      }),
    );
    await webhook.asked();
  });

  after(async () => {
    await Promise.all(sides?.map(({ transport }) => transport.close()) ?? []);
    await Promise.all([own?.stop(), plane?.[Symbol.asyncDispose]()]);
    await Promise.all([webhook?.stop(), foreign?.stop(), elsewhere?.stop()]);
    await run[Symbol.asyncDispose]();
  });

  /** What both say, in one form: without what differs from one run or release to the next. */
  function plain(value: unknown): unknown {
    const text = JSON.stringify(value)
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
      .replaceAll(/"resourceVersion":"\d+"/g, '"resourceVersion":"N"')
      // A mutating webhook is told the namespace since 1.24, and no empty times since 1.34.
      .replaceAll(/"creationTimestamp":null,|,"creationTimestamp":null/g, '')
      .replaceAll(
        /,"namespace":"default"(?=[^{}]*\}+,"oldObject")|"namespace":"default",(?=[^{}]*"(?:labels|managedFields|uid)")/g,
        '',
      )
      // A hint of Go's, where another authority has the same name.
      .replaceAll(/ \(possibly because of .*? while trying to verify candidate authority certificate .*?\)/g, '')
      // Said since 1.21, by Go since 1.20.
      .replaceAll(
        /failed to call webhook: |received invalid webhook response: |tls: failed to verify certificate: /g,
        '',
      );
    return JSON.parse(text);
  }

  for (const [index, each] of CASES.entries()) {
    const title = `${each.type ?? 'Mutating'} ${each.path} ${JSON.stringify(each.webhook ?? {})}${each.query ?? ''}`;
    test(title, async () => {
      const name = nameOf(index);
      const object = { metadata: { name, labels: { case: name } } };
      const outcomes: unknown[] = [];
      for (const side of sides) {
        const outcome = await side.send('POST', `${CONFIG_MAPS}${each.query ?? ''}`, object);
        const reviews = (await webhook.asked()).map(({ path, review }) => ({ path, ...review.request }));
        outcomes.push(plain({ outcome: each.isReworded ? outcome.status : outcome, reviews }));
      }
      assert.deepEqual(outcomes[0], outcomes[1]);
    });
  }

  const REQUESTS: readonly [title: string, method: string, path: string, body?: object, type?: string][] = [
    [
      'an update',
      'PUT',
      `${CONFIG_MAPS}/seen`,
      { metadata: { name: 'seen', labels: { all: 'yes' } }, data: { a: '1' } },
    ],
    ['a patch', 'PATCH', `${CONFIG_MAPS}/seen`, { data: { b: '2' } }, 'application/merge-patch+json'],
    [
      'an apply that creates',
      'PATCH',
      `${CONFIG_MAPS}/applied?fieldManager=me`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied' }, data: { a: '1' } },
      'application/apply-patch+yaml',
    ],
    ['a deletion', 'DELETE', `${CONFIG_MAPS}/seen`, { gracePeriodSeconds: 0, propagationPolicy: 'Background' }],
    ['a deletion of many', 'DELETE', `${CONFIG_MAPS}?labelSelector=case%3Dnone`],
    ['a namespace', 'POST', '/api/v1/namespaces', { metadata: { name: 'made' } }],
    [
      'its update',
      'PATCH',
      '/api/v1/namespaces/made',
      { metadata: { labels: { a: 'b' } } },
      'application/merge-patch+json',
    ],
    [
      'a scale',
      'PUT',
      '/apis/apps/v1/namespaces/default/deployments/web/scale',
      {
        metadata: { name: 'web', namespace: 'default' },
        spec: { replicas: 3 },
      },
    ],
    ['a generated name', 'POST', `${CONFIG_MAPS}?dryRun=All`, { metadata: { generateName: 'made-' } }],
    [
      'a review',
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      {
        spec: { nonResourceAttributes: { path: '/', verb: 'get' } },
      },
    ],
  ];

  test('what webhooks are told of each verb', async () => {
    const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }];
    const seen: unknown[] = [];
    for (const side of sides) {
      await side.send('POST', CONFIG_MAPS, { metadata: { name: 'seen', labels: { all: 'yes' } } });
      await side.send('POST', '/apis/apps/v1/namespaces/default/deployments', DEPLOYMENT);
      const selectors = { objectSelector: {}, rules };
      for (const type of ['Mutating', 'Validating'] as const) {
        const made = configuration({ path: '/allow', type, webhook: selectors }, `all-${type.toLowerCase()}`);
        await side.send('POST', pathOf(type), made);
      }
      await webhook.asked();
      // In effect where both were asked.
      while ((await webhook.asked()).length < 2)
        await side.send('POST', `${CONFIG_MAPS}?dryRun=All`, { metadata: { name: 'probe' } });
      const told = [];
      for (const [title, method, path, body, type] of REQUESTS) {
        const { status } = await side.send(method, path, body, type);
        const asked = await webhook.asked();
        told.push({ title, status, reviews: asked.map(({ review }) => summary(review.request)) });
      }
      for (const type of ['Mutating', 'Validating'] as const) {
        await side.send('DELETE', `${pathOf(type)}/all-${type.toLowerCase()}`);
      }
      seen.push(plain(told));
    }
    assert.deepEqual(seen[0], seen[1]);
  });

  test('certificates that nobody vouches for, or of another name, and nobody there', async () => {
    const clients: [string, object][] = [
      ['unknown', { url: `https://127.0.0.1:${foreign.port}/allow`, caBundle: caBundleOf(webhook) }],
      ['misnamed', { url: `https://127.0.0.1:${elsewhere.port}/allow`, caBundle: caBundleOf(elsewhere) }],
      ['absent', { url: 'https://127.0.0.1:1/allow', caBundle: caBundleOf(webhook) }],
    ];
    for (const [name, clientConfig] of clients) {
      const outcomes: unknown[] = [];
      for (const side of sides) {
        const made = configuration({ path: '/allow', webhook: { clientConfig } }, name);
        assert.equal((await side.send('POST', pathOf(), made)).status, 201);
        let outcome: Outcome;
        const object = { metadata: { name, labels: { case: name } } };
        do outcome = await side.send('POST', `${CONFIG_MAPS}?dryRun=All`, object);
        while (outcome.status === 201);
        outcomes.push(plain(outcome));
      }
      assert.deepEqual(outcomes[0], outcomes[1], name);
    }
  });

  test('kubectl shows what webhooks say as it does beside the real one', async () => {
    const printed: string[][] = [];
    for (const [index, side] of sides.entries()) {
      const kubeconfig = await writeKubeconfig(join(run.path, `side-${index}.kubeconfig`), side.connection);
      const kubectl = new Kubectl(requiredBinary('kubectl-1.36'), kubeconfig, await run.folder(`kubectl-${index}`));
      const lines: string[] = [];
      for (const path of ['/deny', '/warn', '/status-500', '/label', '/deny-code']) {
        const name = nameOf(CASES.findIndex((each) => each.path === path));
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `k-${name}`, labels: { case: name } } };
        const args = ['create', '--validate=false', '-o', 'jsonpath={.metadata.labels}', '-f', '-'];
        const { code, stdout, stderr } = await kubectl.try(args, { stdin: JSON.stringify(object) });
        lines.push(JSON.stringify(plain({ code, stdout, stderr })));
      }
      printed.push(lines);
    }
    assert.deepEqual(printed[0], printed[1]);
  });

  test('a redirect is not followed, and an answer without an end is cut off', async () => {
    const [ours] = sides;
    for (const [path, message] of [
      ['/redirect', /status code 302/],
      ['/endless', /sent more than \d+ bytes/],
    ] as const) {
      const name = path.slice(1);
      await ours.send('POST', pathOf(), configuration({ path, webhook: { timeoutSeconds: 30 } }, name));
      const { status, body } = await ours.send('POST', CONFIG_MAPS, { metadata: { name, labels: { case: name } } });
      assert.equal(status, 500);
      assert.match(String(body['message']), message);
    }
  });
});

const DEPLOYMENT = {
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
};

function caBundleOf({ ca }: WebhookProcess): string {
  return Buffer.from(ca.cert).toString('base64');
}

/** What is asked for, and of the objects their kind and name. */
function summary(request: Record<string, unknown>): unknown {
  const { object, oldObject, uid: _, userInfo: __, ...rest } = request;
  const of = (value: unknown): unknown => {
    const { kind, apiVersion, metadata, spec } = (value ?? {}) as Record<string, Record<string, unknown> | undefined>;
    const replicas = spec?.['replicas'];
    return value && { kind, apiVersion, name: plainName(metadata?.['name']), replicas };
  };
  return { ...rest, name: plainName(rest['name']), object: of(object), oldObject: of(oldObject) };
}

function plainName(name: unknown): unknown {
  return typeof name === 'string' && name.startsWith('made-') ? 'generated' : name;
}
