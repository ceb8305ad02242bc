import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '@asterism/client';
import type { TokenReview, TokenReviewStatus } from '@asterism/machinery';
import { createTokenReviewer } from './delegated-tokens.ts';

/** A host that says the same of every token; `asked` are the reviews that it got. */
function hostSaying(status: TokenReviewStatus): { client: Client; asked: TokenReview[] } {
  const asked: TokenReview[] = [];
  const create = (review: TokenReview): Promise<TokenReview> => {
    asked.push(review);
    return Promise.resolve({ ...review, status });
  };
  return { client: { resource: () => ({ create }) } as unknown as Client, asked };
}

const RITA = { username: 'rita', groups: ['readers'] };

const cases: { name: string; says: TokenReviewStatus; audiences: string[]; user: boolean }[] = [
  {
    name: 'a host that looked at the audiences',
    says: { authenticated: true, user: RITA, audiences: ['b', 'a'] },
    audiences: ['a'],
    user: true,
  },
  {
    name: 'a host that did not look at them',
    says: { authenticated: true, user: RITA },
    audiences: ['a'],
    user: false,
  },
  {
    name: 'a token for others',
    says: { authenticated: true, user: RITA, audiences: ['b'] },
    audiences: ['a'],
    user: false,
  },
  { name: 'nobody asked for an audience', says: { authenticated: true, user: RITA }, audiences: [], user: true },
  {
    name: 'a user without a name',
    says: { authenticated: true, user: { groups: ['system:masters'] } },
    audiences: [],
    user: false,
  },
  { name: 'a refusal that names a user', says: { authenticated: false, user: RITA }, audiences: [], user: false },
  { name: 'an empty answer', says: {}, audiences: [], user: false },
];

for (const { name, says, audiences, user } of cases) {
  test(`${name}: ${user ? 'good' : 'bad'}`, async () => {
    const { client, asked } = hostSaying(says);
    const signal = new AbortController().signal;
    const review = createTokenReviewer({ client, signal, logger: undefined, monotonic: () => 0 });
    const found = await review('t', audiences);
    assert.deepEqual(found === 'bad' ? undefined : found.user, user ? RITA : undefined);
    assert.deepEqual(asked[0]?.spec, { token: 't', ...(audiences.length > 0 ? { audiences } : {}) });
    // For other audiences it is another question.
    await review('t', [...audiences, 'c']);
    await review('t', audiences);
    assert.equal(asked.length, 2);
  });
}
