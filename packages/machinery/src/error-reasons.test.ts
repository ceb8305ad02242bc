import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as reasons from './error-reasons.ts';
import type { StatusReason } from './object.ts';
import { failure, StatusError } from './status.ts';

const ask = { ...reasons };
type Question = keyof typeof ask;

/** By question: the reason it asks for, and the code that stands for it where there is no reason. */
const questions: Record<Question, [reason: StatusReason, code?: number]> = {
  isNotFound: ['NotFound', 404],
  isAlreadyExists: ['AlreadyExists'],
  isConflict: ['Conflict', 409],
  isInvalid: ['Invalid', 422],
  isForbidden: ['Forbidden', 403],
  isUnauthorized: ['Unauthorized', 401],
};
const names = Object.keys(questions) as Question[];

describe('the questions that a client asks of an error', () => {
  for (const name of names) {
    const [reason, code] = questions[name];
    test(`${name}: ${reason}, whatever the code`, () => {
      assert.ok(ask[name](failure(418, 'no', { reason })));
      for (const other of names.filter((each) => each !== name)) {
        assert.equal(ask[other](failure(code ?? 418, 'no', { reason })), false, other);
      }
    });
    test(`${name}: ${code ?? 'no code'} of an answer without a known reason`, () => {
      const told = new StatusError({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        code: code ?? 504,
      });
      assert.equal(ask[name](told), code !== undefined);
    });
  }

  test('of anything else than a Status the answer is no', () => {
    for (const error of [new Error('NotFound'), undefined, { code: 404, reason: 'NotFound' }]) {
      assert.equal(reasons.isNotFound(error), false);
    }
  });
});
