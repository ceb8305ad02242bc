import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { KubeObject } from '@asterism/machinery';
import { openTestRegistry, patch, refused, type TestRegistry } from '../compose/testing/test-registry.ts';
import { AdmissionMetrics } from './admission-metrics.ts';
import { patchOf, WebhookServer } from './testing/webhook-server.ts';

const MUTATING = 'admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const VALIDATING = 'admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

describe('admission webhooks', () => {
  let server: WebhookServer;
  let t: TestRegistry;
  let metrics: AdmissionMetrics;

  before(async () => {
    server = await WebhookServer.start({ ipAddresses: ['127.0.0.1'], dnsNames: ['hook.default.svc'] });
    server.on('/allow', () => ({ allowed: true }));
    server.on('/deny', () => ({ allowed: false, status: { message: 'no' } }));
    server.on('/hang', () => undefined);
  });
  after(() => server[Symbol.asyncDispose]());

  beforeEach(async () => {
    metrics = new AdmissionMetrics();
    t = await openTestRegistry({ webhooks: { metrics, authorizer: () => ({ authorize: decide }) } });
    server.take();
  });
  afterEach(() => t[Symbol.asyncDispose]());

  const decide = ({ verb, name }: { verb: string; name?: string }) => ({
    allowed: verb === 'use' && name === 'allowed',
    reason: '',
  });
  const configure = (place: string, name: string, ...webhooks: object[]): Promise<KubeObject> =>
    t.create(place, { metadata: { name }, webhooks });
  const configMap = (name: string, more: object = {}) => t.create('v1/configmaps', { metadata: { name, ...more } });

  test('mutating ones are asked in the order of their configurations, and see what those before them did', async () => {
    const labels: unknown[] = [];
    const label = (name: string) => {
      server.on(`/${name}`, ({ object }) => {
        labels.push(object?.metadata?.labels);
        return patchOf({ op: 'add', path: '/metadata/labels', value: { ...object?.metadata?.labels, [name]: 'y' } });
      });
    };
    label('second');
    label('first');
    await configure(MUTATING, 'b', server.webhook('/second'));
    await configure(MUTATING, 'a', server.webhook('/first'));
    const made = await configMap('made');
    assert.deepEqual(labels, [undefined, { first: 'y' }]);
    assert.deepEqual(made.metadata?.labels, { first: 'y', second: 'y' });
    assert.deepEqual(made.metadata?.managedFields, undefined, "what a webhook sets is nobody's");
  });

  test('one that wants it is asked again after a later one has changed the object, and no other', async () => {
    server.on('/mark', () => patchOf({ op: 'add', path: '/metadata/labels', value: { marked: 'y' } }));
    await configure(MUTATING, 'a', server.webhook('/allow', { reinvocationPolicy: 'IfNeeded' }));
    await configure(MUTATING, 'b', server.webhook('/mark'));
    await configMap('made');
    assert.deepEqual(server.take(), ['/allow', '/mark', '/allow']);
  });

  test('validating ones see the object as it is stored, all at once; the first refusal counts', async () => {
    const arrived = Promise.withResolvers<void>();
    server.on('/waits', async ({ object }) => {
      await arrived.promise;
      assert.ok(object?.metadata?.uid);
      return { allowed: false, status: { message: 'waited' } };
    });
    server.on('/releases', () => {
      arrived.resolve();
      return { allowed: false, status: { message: 'released' } };
    });
    await configure(VALIDATING, 'a', server.webhook('/waits'), server.webhook('/releases'));
    await refused(configMap('x'), 400, 'admission webhook "waits.example.com" denied the request: waited');
    await refused(t.registry.get(t.resource('v1/configmaps'), { namespace: 'default', name: 'x' }), 404);
    assert.ok(metrics.lines().some((line) => line.includes('webhook_rejection_count{name="waits.example.com"')));
  });

  const RULES: [title: string, webhook: object, object: object, isAsked: boolean][] = [
    ['another operation', { rules: [rule({ operations: ['DELETE'] })] }, {}, false],
    ['another resource', { rules: [rule({ resources: ['secrets'] })] }, {}, false],
    ['any resource', { rules: [rule({ resources: ['*'] })] }, {}, true],
    ['a subresource', { rules: [rule({ resources: ['configmaps/status'] })] }, {}, false],
    ['anything', { rules: [rule({ resources: ['*/*'], apiGroups: ['*'], apiVersions: ['*'] })] }, {}, true],
    ['cluster-scoped ones', { rules: [rule({ scope: 'Cluster' })] }, {}, false],
    ['namespaced ones', { rules: [rule({ scope: 'Namespaced' })] }, {}, true],
    ['a label that it has', { objectSelector: { matchLabels: { a: 'b' } } }, { labels: { a: 'b' } }, true],
    ['a label that it lacks', { objectSelector: { matchLabels: { a: 'b' } } }, {}, false],
    ['its namespace', { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } }, {}, true],
    ['another namespace', { namespaceSelector: { matchLabels: { other: 'yes' } } }, {}, false],
    ['a condition that holds', condition('object.metadata.name == "x"'), {}, true],
    ['one that does not', condition('object.metadata.name != "x"'), {}, false],
    ['who asks', condition('request.userInfo.username == "tester" && request.operation == "CREATE"'), {}, true],
    ['what is not there', condition('oldObject == null'), {}, true],
    [
      'what he may',
      condition('authorizer.group("").resource("things").name("allowed").check("use").allowed()'),
      {},
      true,
    ],
    [
      'what he may not',
      condition('authorizer.group("").resource("things").name("x").check("use").allowed()'),
      {},
      false,
    ],
    ['the request itself', condition('authorizer.requestResource.check("create").allowed()'), {}, false],
  ];
  for (const [title, webhook, metadata, isAsked] of RULES) {
    test(`rules, selectors and conditions: ${title}`, async () => {
      await configure(VALIDATING, 'a', server.webhook('/allow', webhook as Record<string, unknown>));
      await configMap('x', metadata);
      assert.deepEqual(server.take(), isAsked ? ['/allow'] : []);
    });
  }

  test('of conditions that fail the policy decides, but a false one decides first', async () => {
    const conditions = (...expressions: string[]) => ({
      matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
    });
    await configure(VALIDATING, 'a', server.webhook('/allow', conditions('object.nope == 1')));
    const why = `configmaps "x" is forbidden: expression 'object.nope == 1' resulted in error: no such key: nope`;
    await refused(configMap('x'), 403, why);
    await t.registry.delete(t.resource(VALIDATING), { name: 'a' }, {}, t.context());
    await configure(VALIDATING, 'b', server.webhook('/allow', conditions('object.nope == 1', 'false')));
    await configure(
      VALIDATING,
      'c',
      server.webhook('/allow', { ...conditions('object.nope == 1'), failurePolicy: 'Ignore' }),
    );
    await configMap('x');
    assert.deepEqual(server.take(), []);
  });

  test('a rule for one version is about another of the same; the webhook gets its own version', async () => {
    const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['events'] }];
    server.on('/note', ({ object }) =>
      patchOf({ op: 'add', path: '/metadata/annotations', value: { was: object?.kind } }),
    );
    await configure(MUTATING, 'a', server.webhook('/note', { rules }));
    await configure(MUTATING, 'b', server.webhook('/allow', { rules, matchPolicy: 'Exact' }));
    const event = {
      metadata: { name: 'e' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'x.example.com/y',
      reportingInstance: 'z',
      action: 'a',
      reason: 'r',
      type: 'Normal',
      regarding: { kind: 'Pod', name: 'p', namespace: 'default' },
    };
    const made = await t.create('events.k8s.io/v1/events', event);
    assert.equal(made.apiVersion, 'events.k8s.io/v1');
    assert.deepEqual(made.metadata?.annotations, { was: 'Event' });
    const [{ request } = assert.fail('not asked')] = server.asked;
    assert.deepEqual(request.kind, { group: '', version: 'v1', kind: 'Event' });
    assert.deepEqual(request.requestResource, { group: 'events.k8s.io', version: 'v1', resource: 'events' });
    assert.equal(request.object?.apiVersion, 'v1');
    assert.ok('involvedObject' in (request.object ?? {}));
    assert.equal(server.asked.length, 1);
  });

  test('updates, patches and deletions show what was there', async () => {
    await configMap('x');
    await configure(VALIDATING, 'a', server.webhook('/allow'));
    await patch(t, 'v1/configmaps', 'x', { data: { a: '1' } });
    const selection = { namespace: 'default' };
    await t.registry.deleteCollection(t.resource('v1/configmaps'), selection, {}, t.context(selection));
    const seen = server.asked.map(({ request: { operation, name, object, oldObject, options } }) => [
      operation,
      name,
      object?.['data'],
      oldObject?.['data'],
      options?.kind,
    ]);
    assert.deepEqual(seen, [
      ['UPDATE', 'x', { a: '1' }, undefined, 'UpdateOptions'],
      ['DELETE', 'x', undefined, { a: '1' }, 'DeleteOptions'],
    ]);
  });

  test('a deletion may be refused, and not be changed', async () => {
    await configMap('x');
    server.on('/change', () => patchOf({ op: 'add', path: '/data', value: {} }));
    await configure(MUTATING, 'a', server.webhook('/change', { rules: [rule({ operations: ['DELETE'] })] }));
    const attempt = t.registry.delete(
      t.resource('v1/configmaps'),
      { namespace: 'default', name: 'x' },
      {},
      t.context(),
    );
    await refused(attempt, 500, /attempted to modify the object, which is not supported for this operation/);
  });

  test('nobody else loses what he wrote while a webhook was thinking', async () => {
    await configMap('x');
    let raced = false;
    server.on('/race', async ({ userInfo, object }) => {
      if (!raced && userInfo.username === 'tester') {
        raced = true;
        await patch(t, 'v1/configmaps', 'x', { data: { other: '1' } }, 'merge', {
          user: { username: 'other', groups: ['system:masters'] },
        });
      }
      return object === null ? { allowed: true } : patchOf({ op: 'add', path: '/metadata/labels', value: { a: 'b' } });
    });
    await configure(MUTATING, 'a', server.webhook('/race'));
    await patch(t, 'v1/configmaps', 'x', { data: { mine: '1' } });
    assert.deepEqual((await t.get('v1/configmaps', 'x'))['data'], { mine: '1', other: '1' });
    assert.equal(server.take().length, 3, 'asked once for each try');
  });

  test('nothing is created in a namespace that went while a webhook was thinking', async () => {
    await t.create('v1/namespaces', { metadata: { name: 'brief' } });
    server.on('/end', async () => {
      await t.registry.delete(t.resource('v1/namespaces'), { name: 'brief' }, {}, t.context());
      return { allowed: true };
    });
    await configure(VALIDATING, 'a', server.webhook('/end'));
    const attempt = t.create('v1/configmaps', { metadata: { name: 'x', namespace: 'brief' } });
    await refused(attempt, 403, /namespace brief because it is being terminated/);
  });

  test('a client that goes away ends the call, and nothing is stored', async () => {
    await configure(VALIDATING, 'a', server.webhook('/hang', { failurePolicy: 'Ignore', timeoutSeconds: 30 }));
    const gone = new AbortController();
    server.on('/hang', () => {
      gone.abort();
      return undefined;
    });
    const attempt = t.create('v1/configmaps', { metadata: { name: 'x' } }, { signal: gone.signal });
    await refused(attempt, 504, /request did not complete within requested timeout/);
    await refused(t.get('v1/configmaps', 'x'), 404);
  });

  test('a registry that closes does not wait for a webhook that hangs', async () => {
    const asked = Promise.withResolvers<void>();
    server.on('/hang', () => {
      asked.resolve();
      return undefined;
    });
    await configure(VALIDATING, 'a', server.webhook('/hang', { timeoutSeconds: 30 }));
    const attempt = configMap('x');
    await Promise.all([asked.promise.then(() => t.registry.close()), refused(attempt, 500, /failed calling webhook/)]);
  });

  test('a dry run does not reach what has side effects, and is told to the others', async () => {
    await configure(VALIDATING, 'a', server.webhook('/allow', { sideEffects: 'NoneOnDryRun' }));
    await t.create('v1/configmaps', { metadata: { name: 'x' } }, { dryRun: true });
    assert.equal(server.asked[0]?.request.dryRun, true);
  });

  test("configurations of admission are nobody's to refuse", async () => {
    const rules = [rule({ apiGroups: ['*'], resources: ['*/*'], apiVersions: ['*'] })];
    await configure(VALIDATING, 'a', server.webhook('/deny', { rules }));
    await configure(VALIDATING, 'b', server.webhook('/deny', { rules }));
    await t.registry.delete(t.resource(VALIDATING), { name: 'a' }, {}, t.context());
    assert.deepEqual(server.take(), []);
  });

  test('a webhook behind a Service is called where that is, and known by its name', async () => {
    const service = { name: 'hook', namespace: 'default', path: '/allow', port: server.port };
    const clientConfig = { service, caBundle: server.caBundle };
    await configure(VALIDATING, 'a', server.webhook('/allow', { clientConfig, name: 'svc.example.com' }));
    const url = `https://hook.default.svc:${server.port}/allow?timeout=10s`;
    await refused(
      configMap('x'),
      500,
      `Internal error occurred: failed calling webhook "svc.example.com": failed to call webhook: Post "${url}": service "hook" not found`,
    );
    await t.create('v1/services', {
      metadata: { name: 'hook' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    });
    await configMap('x');
    assert.deepEqual(server.take(), ['/allow']);
  });

  test('connections are kept from one call to the next', async () => {
    await configure(VALIDATING, 'a', server.webhook('/allow'));
    await configMap('x');
    await configMap('y');
    assert.equal(new Set(server.asked.map(({ port }) => port)).size, 1);
  });

  test('a Scale is shown, and changed, as a Scale', async () => {
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    await t.create('apps/v1/deployments', {
      metadata: { name: 'web' },
      spec: { replicas: 1, selector: { matchLabels: { a: 'b' } }, template },
    });
    const rules = [
      { operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments/scale'] },
    ];
    server.on('/limit', () => patchOf({ op: 'replace', path: '/spec/replicas', value: 2 }));
    await configure(MUTATING, 'a', server.webhook('/limit', { rules }));
    const ref = { namespace: 'default', name: 'web' };
    const change = { type: 'merge' as const, body: { spec: { replicas: 9 } } };
    await t.registry.patch(t.resource('apps/v1/deployments'), ref, change, t.context({ ...ref, subresource: 'scale' }));
    assert.equal(server.asked[0]?.request.object?.kind, 'Scale');
    assert.deepEqual(server.asked[0]?.request.kind, { group: 'autoscaling', version: 'v1', kind: 'Scale' });
    assert.equal(((await t.get('apps/v1/deployments', 'web'))['spec'] as { replicas: number }).replicas, 2);
  });

  test('what cannot be a condition is refused with the configuration', async () => {
    const attempt = configure(VALIDATING, 'a', server.webhook('/allow', condition('object.metadata.name')));
    await refused(
      attempt,
      422,
      /matchConditions\[0\]\.expression: Invalid value: "object\.metadata\.name": must evaluate to bool/,
    );
  });
});

function rule(more: object): object {
  return { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], ...more };
}

function condition(expression: string): Record<string, unknown> {
  return { matchConditions: [{ name: 'only', expression }] };
}
