import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  CONFIG_MAPS,
  type ConfigMap,
  conflict,
  DEPLOYMENTS,
  type FieldError,
  fieldInvalid,
  fieldRequired,
  isStatusError,
  notFound,
  PODS,
} from '@asterism/machinery';
import type { AdmissionRequest } from './admission-request.ts';
import { deny } from './denial.ts';
import { createMutatingWebhook, type MutatingWebhookOptions } from './mutating-webhook.ts';
import { admissionReview, ask, configMap } from './testing/admission-review.ts';
import { createValidatingWebhook, type ValidatingWebhookOptions } from './validating-webhook.ts';
import { HandlerError } from './webhook.ts';

const validating = (validate: ValidatingWebhookOptions<ConfigMap>['validate']) =>
  createValidatingWebhook({ type: CONFIG_MAPS, validate });
const mutating = (mutate: MutatingWebhookOptions<ConfigMap>['mutate']) =>
  createMutatingWebhook({ type: CONFIG_MAPS, mutate });

/** For handlers as JavaScript may have them. */
const untyped = (value: unknown) => (): never => value as never;

test('paths are kubebuilder’s, unless given', () => {
  const validate = (): undefined => undefined;
  assert.equal(createValidatingWebhook({ type: DEPLOYMENTS, validate }).path, '/validate-apps-v1-deployment');
  assert.equal(createMutatingWebhook({ type: PODS, mutate: ({ object }) => object }).path, '/mutate--v1-pod');
  const type = { group: 'a.example.dev', version: 'v1', resource: 'maps', kind: 'BigMap', namespaced: true };
  assert.equal(createValidatingWebhook({ type, validate }).path, '/validate-a-example-dev-v1-bigmap');
  assert.equal(createValidatingWebhook({ path: '/any', validate }).path, '/any');
  assert.throws(() => createValidatingWebhook({ validate }), /needs a type or a path/);
});

describe('a validating webhook', () => {
  test('allows', async () => {
    assert.deepEqual(
      await ask(
        validating(() => undefined),
        admissionReview(),
      ),
      { uid: 'u1', allowed: true },
    );
    assert.deepEqual(
      await ask(
        validating(() => deny([])),
        admissionReview(),
      ),
      { uid: 'u1', allowed: true },
    );
  });

  const FAULTS: FieldError[] = [fieldRequired('data'), fieldInvalid('data.a', 'x', 'must be a number')];
  const DENIALS: [what: string, denial: ReturnType<typeof deny>, code: number, reason: string, message: RegExp][] = [
    ['a text', deny('not on Fridays'), 403, 'Forbidden', /^not on Fridays$/],
    ['faults of fields', deny(FAULTS), 422, 'Invalid', /^ConfigMap "a" is invalid: \[data: Required value, data.a: /],
    ['a status', deny(conflict(CONFIG_MAPS, 'a', 'busy')), 409, 'Conflict', /busy$/],
  ];
  for (const [what, denial, code, reason, message] of DENIALS) {
    test(`denies with ${what}`, async () => {
      const { allowed, status } = await ask(
        validating(async () => denial),
        admissionReview(),
      );
      assert.deepEqual([allowed, status?.code, status?.reason], [false, code, reason]);
      assert.match(status?.message ?? '', message);
      assert.equal(status?.details?.causes?.length ?? 0, code === 422 ? 2 : 0);
    });
  }

  test('is told what the review says', async () => {
    const told: AdmissionRequest<ConfigMap>[] = [];
    const webhook = validating((request) => {
      told.push(request);
      return undefined;
    });
    const objects = { operation: 'UPDATE', object: configMap({ a: '2' }), oldObject: configMap({ a: '1' }) };
    const requestKind = { group: '', version: 'v0', kind: 'ConfigMap' };
    await ask(webhook, admissionReview({ ...objects, requestKind, dryRun: true, subResource: 'status' }));
    const seen = told.pop();
    assert.ok(seen?.operation === 'UPDATE');
    assert.deepEqual([seen.oldObject.data, seen.object.data], [{ a: '1' }, { a: '2' }]);
    assert.deepEqual([seen.uid, seen.name, seen.namespace, seen.dryRun], ['u1', 'a', 'n', true]);
    assert.deepEqual([seen.subResource, seen.requestSubResource], ['status', 'status']);
    assert.deepEqual(seen.requestKind, requestKind);
    assert.deepEqual(seen.userInfo, { username: 'alice', groups: ['g'] });
    assert.equal(seen.options?.kind, 'CreateOptions');
    await ask(webhook, admissionReview({ operation: 'DELETE', object: null, oldObject: configMap({}) }));
    const deletion = told.pop();
    assert.ok(deletion?.operation === 'DELETE');
    assert.deepEqual([deletion.object, deletion.oldObject.data], [undefined, {}]);
  });

  test('warns and annotates beside its yes or no', async () => {
    for (const denial of [undefined, deny('no')]) {
      const webhook = validating((request) => {
        request.warn('data is old-fashioned');
        request.annotate('checked', 'yes');
        return denial;
      });
      const { warnings, auditAnnotations, allowed } = await ask(webhook, admissionReview());
      assert.deepEqual([warnings, auditAnnotations], [['data is old-fashioned'], { checked: 'yes' }]);
      assert.equal(allowed, denial === undefined);
    }
  });

  test('answers in the version that it was asked in', async () => {
    const review = { ...admissionReview(), apiVersion: 'admission.k8s.io/v1beta1' };
    const context = { signal: AbortSignal.any([]), logger: undefined as never };
    const answer = await validating(() => undefined).answer(review, context);
    const response = { uid: 'u1', allowed: true };
    assert.deepEqual(answer, { apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview', response });
  });
});

describe('a webhook that fails', () => {
  const boom = (): never => {
    throw new TypeError('boom');
  };
  const CASES: [what: string, webhook: ReturnType<typeof validating>, cause: RegExp][] = [
    ['throws', validating(boom), /boom/],
    ['rejects', mutating(async () => boom()), /boom/],
    ['has a status of another request', validating(() => Promise.reject(notFound(PODS, 'p'))), /"p" not found/],
    ['says false', validating(untyped(false)), /must return nothing, or what deny\(\) returns/],
    ['says a text', validating(untyped('no')), /must return nothing, or what deny\(\) returns/],
    ['forgets its object', mutating(untyped(undefined)), /must return the object/],
    ['makes a list of it', mutating(untyped([])), /must return the object/],
    ['makes no JSON of it', mutating(untyped({ a: 1n })), /BigInt/],
  ];
  for (const [what, webhook, cause] of CASES) {
    test(`since it ${what}, denies nothing`, async () => {
      await assert.rejects(ask(webhook, admissionReview()), (error) => {
        assert.ok(error instanceof HandlerError);
        assert.match((error.cause as Error).message, cause);
        assert.doesNotMatch(error.message, cause);
        const about = {
          operation: 'CREATE',
          kind: 'ConfigMap of v1',
          subResource: undefined,
          namespace: 'n',
          name: 'a',
        };
        assert.deepEqual([error.uid, error.about], ['u1', about]);
        return true;
      });
    });
  }
});

describe('nonsense', () => {
  const EXPECTED = 'expected AdmissionReview of admission.k8s.io/v1 or admission.k8s.io/v1beta1, got';
  const whole = admissionReview();
  const CASES: [what: string, review: unknown, message: string][] = [
    ['no object', [], `${EXPECTED} JSON of type array`],
    ['null', null, `${EXPECTED} JSON of type null`],
    ['nothing in it', {}, `${EXPECTED} no kind of no apiVersion`],
    ['another kind', { apiVersion: 'v1', kind: 'Pod' }, `${EXPECTED} "Pod" of "v1"`],
    [
      'another version',
      { ...whole, apiVersion: 'admission.k8s.io/v2' },
      `${EXPECTED} "AdmissionReview" of "admission.k8s.io/v2"`,
    ],
    ['no request', { ...whole, request: null }, 'the AdmissionReview has no request'],
    ['no uid', admissionReview({ uid: '' }), 'the AdmissionReview has no request.uid'],
    [
      'no operation',
      admissionReview({ operation: 'toString' }),
      'the AdmissionReview has no request.operation of CREATE, UPDATE, DELETE, CONNECT',
    ],
    ['no kind', admissionReview({ kind: undefined }), 'the AdmissionReview of a CREATE has no request.kind'],
    ['no object in it', admissionReview({ object: null }), 'the AdmissionReview of a CREATE has no request.object'],
    [
      'no old object',
      admissionReview({ operation: 'DELETE' }),
      'the AdmissionReview of a DELETE has no request.oldObject',
    ],
    [
      'a kind of other rules',
      admissionReview({ kind: { group: 'apps', version: 'v1', kind: 'Deployment' } }),
      'this webhook is for ConfigMap of v1, not for Deployment of apps/v1: see its rules',
    ],
  ];
  for (const [what, review, message] of CASES) {
    test(what, async () => {
      const webhook = validating(() => assert.fail('it was asked'));
      await assert.rejects(ask(webhook, review), (error) => {
        assert.ok(isStatusError(error, 'BadRequest'));
        assert.equal(error.message, message);
        return true;
      });
    });
  }
});

describe('a mutating webhook', () => {
  const patchIn = (patch = ''): unknown => JSON.parse(Buffer.from(patch, 'base64').toString());

  test('sends what the returned object has different', async () => {
    const webhook = mutating(({ object }) => ({ ...object, data: { ...object.data, b: '2' } }));
    const { allowed, patchType, patch } = await ask(webhook, admissionReview({ object: configMap({ a: '1' }) }));
    assert.deepEqual([allowed, patchType], [true, 'JSONPatch']);
    assert.deepEqual(patchIn(patch), [{ op: 'add', path: '/data/b', value: '2' }]);
  });

  test('may change the object that it was given, and return it', async () => {
    const webhook = mutating(({ object }) => {
      object.data = { b: '2' };
      delete object.metadata?.name;
      return object;
    });
    const { patch } = await ask(webhook, admissionReview({ object: configMap({ a: '1' }) }));
    assert.deepEqual(patchIn(patch), [
      { op: 'remove', path: '/metadata/name' },
      { op: 'remove', path: '/data/a' },
      { op: 'add', path: '/data/b', value: '2' },
    ]);
  });

  test('leaves what is undefined away, and what it does not know as it is', async () => {
    const webhook = mutating(({ object }) => ({ ...object, data: undefined }) as never);
    const { patch } = await ask(webhook, admissionReview({ object: { ...configMap({}), unknown: { x: [1, null] } } }));
    assert.deepEqual(patchIn(patch), [{ op: 'remove', path: '/data' }]);
  });

  test('sends no patch where nothing is different', async () => {
    assert.deepEqual(
      await ask(
        mutating(({ object }) => ({ ...object })),
        admissionReview(),
      ),
      { uid: 'u1', allowed: true },
    );
  });

  test('denies', async () => {
    const { allowed, status, patch } = await ask(
      mutating(() => deny('no')),
      admissionReview(),
    );
    assert.deepEqual([allowed, status?.message, patch], [false, 'no', undefined]);
  });

  test('is not asked about deletions, also where they come without an object', async () => {
    const webhook = mutating(() => assert.fail('it was asked'));
    for (const oldObject of [configMap({}), null]) {
      const { allowed } = await ask(webhook, admissionReview({ operation: 'DELETE', object: null, oldObject }));
      assert.ok(allowed);
    }
  });
});
