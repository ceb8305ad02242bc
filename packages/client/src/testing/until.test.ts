import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { until } from './until.ts';

describe('until', () => {
  test('checks again while the check is false or throws', async () => {
    const answers = [() => false, () => assert.fail('not yet'), () => Promise.resolve(false), () => true];
    let count = 0;
    await until(() => answers[count++]?.());
    assert.equal(count, answers.length);
  });

  test('rejects with the last failure, or with the check itself', async () => {
    await assert.rejects(
      until(() => assert.fail('not yet'), 10),
      /^AssertionError.*: not yet$/,
    );
    await assert.rejects(
      until(() => Math.random() > 2, 10),
      /still false after 10 ms: .*Math\.random\(\) > 2/,
    );
  });
});
