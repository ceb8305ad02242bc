import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OverrideTexts } from './override-texts.ts';
import { TextThread } from './text-thread.ts';

const overrider = { fieldPath: '/data/f', yaml: [{ subPath: '/key5/name', operator: 'replace' as const, value: 'x' }] };
const yamlOf = (keys: number): string =>
  Array.from({ length: keys }, (_, key) => `key${key}:\n  name: value # of ${key}\n`).join('');

test('a large text is edited in a thread, as a small one is here', async () => {
  const thread = new TextThread();
  const text = yamlOf(2_000);
  const edited = await new OverrideTexts(thread).edit(text, overrider);
  assert.deepEqual(edited, { text: text.replace('key5:\n  name: value', 'key5:\n  name: x') });
  assert.deepEqual(await new OverrideTexts().edit(text, overrider), edited);
  await thread.stop();
});

test('the loop is never held while a large text is edited', async () => {
  const thread = new TextThread();
  const texts = new OverrideTexts(thread);
  const text = yamlOf(20_000);
  let longest = 0;
  let last = cpuMs();
  const watch = setInterval(() => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  const edited = await texts.edit(text, overrider);
  clearInterval(watch);
  assert.ok('text' in edited);
  assert.ok(longest < 50, `one turn of the loop took ${longest} ms of CPU`);
  await thread.stop();
});

test('a text that takes too long is a fault, and the next one is edited', async () => {
  // Enough for a thread to start in, and too little for the text, which is still edited when the next one is asked for.
  const thread = new TextThread({ limitMs: 2_000 });
  const slow = await thread.perform({ edit: yamlOf(200_000), overrider });
  assert.deepEqual(slow, { fault: 'takes longer than 2 s to read or change' });
  const quick = await thread.perform({ read: 'a: 1' });
  assert.deepEqual(quick, { value: { a: 1 } });
  await thread.stop();
});

test('a thread that is stopped rejects what is under way, and starts again', async () => {
  const thread = new TextThread();
  const underWay = thread.perform({ edit: yamlOf(60_000), overrider });
  setTimeout(() => void thread.stop(), 50);
  await assert.rejects(underWay, /has ended/);
  assert.deepEqual(await thread.perform({ read: 'b: 2' }), { value: { b: 2 } });
  await thread.stop();
});

test('the same text is edited once for all clusters that ask at once', async () => {
  const asked: unknown[] = [];
  const thread = new TextThread();
  const counting = Object.assign(Object.create(thread) as TextThread, {
    perform: (task: Parameters<TextThread['perform']>[0]) => {
      asked.push(task);
      return thread.perform(task);
    },
  });
  const texts = new OverrideTexts(counting);
  const text = yamlOf(1_000);
  const edits = await Promise.all(Array.from({ length: 5 }, () => texts.edit(text, overrider)));
  assert.equal(new Set(edits.map((edit) => JSON.stringify(edit))).size, 1);
  assert.equal(asked.length, 1);
  await thread.stop();
});

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
