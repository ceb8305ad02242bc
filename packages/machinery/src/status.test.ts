import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyConflict } from './apply/apply-conflict.ts';
import { isAlreadyExists, isConflict, isNotFound } from './error-reasons.ts';
import { unclassifiedError } from './schema/unclassified-error.ts';
import {
  StatusError,
  alreadyExists,
  badRequest,
  conflict,
  expired,
  failure,
  forbidden,
  invalid,
  isStatusError,
  notFound,
  success,
  unauthorized,
} from './status.ts';

const DEPLOYMENTS = { group: 'apps', resource: 'deployments' };
const PODS = { group: '', resource: 'pods' };

describe('the errors of a server, in the words of Kubernetes', () => {
  const rows: [error: StatusError, code: number, reason: string, message: string, details: object | undefined][] = [
    [
      notFound(DEPLOYMENTS, 'web'),
      404,
      'NotFound',
      'deployments.apps "web" not found',
      { name: 'web', group: 'apps', kind: 'deployments' },
    ],
    [alreadyExists(PODS, 'p'), 409, 'AlreadyExists', 'pods "p" already exists', { name: 'p', kind: 'pods' }],
    [
      conflict(PODS, 'p', 'it moved'),
      409,
      'Conflict',
      'Operation cannot be fulfilled on pods "p": it moved',
      { name: 'p', kind: 'pods' },
    ],
    [forbidden(PODS, '', 'no'), 403, 'Forbidden', 'pods is forbidden: no', { kind: 'pods' }],
    [forbidden(PODS, 'p', 'no'), 403, 'Forbidden', 'pods "p" is forbidden: no', { name: 'p', kind: 'pods' }],
    [badRequest('what?'), 400, 'BadRequest', 'what?', undefined],
    [unauthorized(), 401, 'Unauthorized', 'Unauthorized', undefined],
    [expired('too old'), 410, 'Expired', 'too old', undefined],
    [failure(418, 'tea'), 418, 'Unknown', 'tea', undefined],
  ];
  for (const [error, code, reason, message, details] of rows) {
    test(message, () => {
      assert.equal(error.code, code);
      assert.equal(error.reason, reason);
      assert.equal(error.message, message);
      assert.deepEqual(error.status.details, details);
      assert.equal(error.status.status, 'Failure');
    });
  }
});

test('invalid names every field, in the text and as a cause', () => {
  const required = { type: 'FieldValueRequired', field: 'spec.a', message: 'Required value' } as const;
  const wrong = { type: 'FieldValueInvalid', field: 'spec.b', message: 'Invalid value: 1: no' } as const;
  const one = invalid({ group: 'apps', kind: 'Deployment' }, 'web', [required]);
  assert.equal(one.message, 'Deployment.apps "web" is invalid: spec.a: Required value');
  const two = invalid({ group: '', kind: 'Pod' }, '', [required, wrong]);
  assert.equal(two.message, 'Pod "" is invalid: [spec.a: Required value, spec.b: Invalid value: 1: no]');
  assert.equal(two.code, 422);
  assert.deepEqual(two.status.details, {
    kind: 'Pod',
    causes: [
      { reason: 'FieldValueRequired', message: 'Required value', field: 'spec.a' },
      { reason: 'FieldValueInvalid', message: 'Invalid value: 1: no', field: 'spec.b' },
    ],
  });
});

test('invalid tells a fault that is there twice once in its text', () => {
  const fault = { type: 'FieldValueRequired', field: 'spec.a', message: 'Required value' } as const;
  const error = invalid({ group: '', kind: 'Pod' }, 'p', [fault, fault]);
  assert.equal(error.message, 'Pod "p" is invalid: spec.a: Required value');
  assert.equal(error.status.details?.causes?.length, 2);
});

test('invalid tells the first of very many faults, or of very long ones', () => {
  const fault = (i: number, message: string) => ({ type: 'FieldValueInvalid', field: `a[${i}]`, message }) as const;
  const rows: [count: number, message: string, told: number][] = [
    [1000, 'no', 1000],
    [150_000, 'no', 1000],
    [5000, 'x'.repeat(50_000), 5],
    [5000, 'x'.repeat(100_000), 3],
    [3, 'x'.repeat(2_000_000), 3],
  ];
  for (const [count, message, told] of rows) {
    const faults = Array.from({ length: count }, (_, i) => fault(i, message));
    const error = invalid({ group: '', kind: 'Pod' }, 'p', faults);
    assert.ok(error.message.length < 512 * 1024);
    const causes = error.status.details?.causes ?? [];
    assert.deepEqual(
      causes.slice(0, told).map(({ field }) => field),
      faults.slice(0, told).map(({ field }) => field),
    );
    const more = {
      reason: 'FieldValueTooMany',
      message: `Too many: only the first ${told} faults are told`,
      field: '<nil>',
    };
    assert.deepEqual(causes.slice(told), count > told ? [more] : []);
  }
});

test('an answer does not repeat a text of 3 MB', () => {
  const long = '"'.repeat(3_000_000);
  const owner = { manager: 'm', operation: 'Apply', apiVersion: 'v1', subresource: '', time: '', fields: {} } as const;
  const fault = { type: 'FieldValueInvalid', field: `data[${long}]`, message: long } as const;
  const errors = [
    invalid({ group: '', kind: 'Pod' }, long, [fault, fault]),
    badRequest(long),
    notFound(PODS, long),
    alreadyExists(PODS, long),
    conflict(PODS, long, long),
    forbidden(PODS, long, long),
    failure(500, long, { details: { name: long } }),
    unclassifiedError(long),
    applyConflict([{ owner, fields: { [`f:${long}`]: {} } }]),
  ];
  for (const error of errors) {
    const answer = JSON.stringify(error.status);
    assert.ok(answer.length < 2 * 1024 * 1024, `${error.code}: ${answer.length} characters`);
  }
});

test('errors are told apart by their reason', () => {
  assert.equal(isNotFound(notFound(PODS, 'p')), true);
  assert.equal(isNotFound(conflict(PODS, 'p', '')), false);
  assert.equal(isConflict(conflict(PODS, 'p', '')), true);
  assert.equal(isConflict(alreadyExists(PODS, 'p')), false);
  assert.equal(isAlreadyExists(alreadyExists(PODS, 'p')), true);
  assert.equal(isStatusError(new Error('x')), false);
  assert.equal(isStatusError(badRequest('x'), 'BadRequest'), true);
});

test('an error keeps its cause and when to come again', () => {
  const cause = new Error('socket');
  const error = failure(429, 'slow down', { details: { retryAfterSeconds: 3 }, cause });
  assert.equal(error.cause, cause);
  assert.equal(error.retryAfterSeconds, 3);
  assert.equal(error.reason, 'TooManyRequests');
  assert.equal(new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' }).code, 500);
});

test('success carries details where there are some', () => {
  assert.deepEqual(success(), { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
  assert.deepEqual(success({ name: 'x' }).details, { name: 'x' });
});
