import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { placing } from './access.ts';
import { AccessReviews } from './access-reviews.ts';
import type { Subject } from './subject.ts';

const { signal } = new AbortController();
const tom: Subject = { username: 'tom', groups: ['a'] };

/** Reviews by a list of the allowed clusters, and every question that was asked. */
function reviewsOf(allowed: Set<string>, limit?: number) {
  const asked: string[] = [];
  const authorize = async (subject: Subject, { name = '*' }: { name?: string | undefined }): Promise<boolean> => {
    asked.push(`${subject.username} ${name}`);
    return allowed.has(name);
  };
  return { asked, reviews: new AccessReviews(authorize, limit) };
}

describe('access reviews', () => {
  test('one question for one right, however often it is needed and however the subject is written down', async () => {
    const { asked, reviews } = reviewsOf(new Set(['ant']));
    const again: Subject = { username: 'tom', groups: ['a'] };
    const answers = await Promise.all([tom, again, tom].map((each) => reviews.allowed(each, placing('ant'), signal)));
    assert.deepEqual(answers, [true, true, true]);
    assert.equal(await reviews.allowed(again, placing('ant'), signal), true);
    assert.deepEqual(asked, ['tom ant']);
  });

  test('subjects that differ in a group are two', async () => {
    const { asked, reviews } = reviewsOf(new Set());
    await reviews.allowed(tom, placing(), signal);
    await reviews.allowed({ username: 'tom', groups: ['b'] }, placing(), signal);
    assert.equal(asked.length, 2);
  });

  test('the widest right comes first', async () => {
    const { asked, reviews } = reviewsOf(new Set(['*']));
    assert.equal(await reviews.allowedByAny(tom, [placing(), placing('ant')], signal), true);
    assert.equal(await reviews.allowedByAny(tom, [placing(), placing('bee')], signal), true);
    assert.deepEqual(asked, ['tom *']);
  });

  test('another answer is found by asking again, and told once', async () => {
    const allowed = new Set(['ant']);
    const { reviews } = reviewsOf(allowed);
    await reviews.allowed(tom, placing('ant'), signal);
    assert.equal(await reviews.recheck(signal), false);
    allowed.delete('ant');
    assert.equal(await reviews.recheck(signal), true);
    assert.equal(await reviews.allowed(tom, placing('ant'), signal), false);
    assert.equal(await reviews.recheck(signal), false);
  });

  test('a question that fails is no answer', async () => {
    let fails = true;
    const reviews = new AccessReviews(async () => {
      if (fails) throw new Error('the API server is not responding');
      return true;
    });
    await assert.rejects(reviews.allowed(tom, placing(), signal), /not responding/);
    fails = false;
    assert.equal(await reviews.allowed(tom, placing(), signal), true);
  });

  test('beyond the limit the oldest answer is forgotten', async () => {
    const { asked, reviews } = reviewsOf(new Set(), 2);
    for (const name of ['a', 'b', 'c', 'c', 'a']) await reviews.allowed(tom, placing(name), signal);
    assert.deepEqual(asked, ['tom a', 'tom b', 'tom c', 'tom a']);
  });
});
