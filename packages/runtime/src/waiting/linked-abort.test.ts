import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { LinkedAbort } from './linked-abort.ts';

test('LinkedAbort aborts with any parent, and leaves nothing on them', () => {
  const [one, two] = [new AbortController(), new AbortController()];
  {
    using linked = new LinkedAbort(one.signal, undefined, two.signal);
    assert.equal(linked.signal.aborted, false);
    two.abort('reason');
    assert.equal(linked.signal.reason, 'reason');
  }
  assert.equal(getEventListeners(one.signal, 'abort').length, 0);
  using late = new LinkedAbort(two.signal);
  assert.equal(late.signal.reason, 'reason');
});
