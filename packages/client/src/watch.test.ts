import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import type { ResourceType, WatchEvent } from '@asterism/machinery';
import { createClient } from './client.ts';
import { ClientError } from './client-error.ts';
import { createTransport } from './http/http-transport.ts';
import { startFakeServer } from './testing/fake-server.ts';
import { json, scripted } from './testing/scripted-transport.ts';

const PODS: ResourceType = { group: '', version: 'v1', resource: 'pods', kind: 'Pod', namespaced: true };

async function events(watch: AsyncIterable<WatchEvent>): Promise<WatchEvent[]> {
  const seen: WatchEvent[] = [];
  for await (const event of watch) seen.push(event);
  return seen;
}

describe('watch', () => {
  const line = (type: string, name: string): string => `${JSON.stringify({ type, object: { metadata: { name } } })}\n`;

  test('lines may come in any pieces', async () => {
    const whole = Buffer.from(line('ADDED', 'ä') + line('BOOKMARK', '') + '\n' + line('ERROR', 'e').trimEnd());
    for (const size of [1, 7, 64, 1000]) {
      const body = async function* (): AsyncGenerator<string> {
        for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size) as unknown as string;
      };
      const { requests, client } = scripted({ body });
      const seen = await events(client().resource(PODS).watch({ resourceVersion: '5', timeoutSeconds: 9 }));
      assert.deepEqual(
        seen.map(({ type, object }) => `${type} ${object.metadata?.['name' as never]}`),
        ['ADDED ä', 'BOOKMARK ', 'ERROR e'],
      );
      assert.equal(
        requests[0]?.path,
        '/api/v1/pods?resourceVersion=5&timeoutSeconds=9&watch=true&allowWatchBookmarks=true',
      );
      assert.equal(requests[0]?.long, true);
    }
  });

  test('the list over the watch, and no bookmarks', async () => {
    const { requests, client } = scripted({ body: '' });
    await events(client().resource(PODS).watch({ sendInitialEvents: true, allowBookmarks: false, namespace: 'n' }));
    const expected = '/api/v1/namespaces/n/pods?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    assert.equal(requests[0]?.path, expected);
  });

  test('an answer that is no watch is thrown; one that breaks off too', async () => {
    const body = async function* () {
      yield line('ADDED', 'a');
      yield '{"type":"ADD';
      throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    };
    const { client } = scripted(
      json({ kind: 'Status', reason: 'Expired', code: 410 }, 410),
      { body },
      { body: line('ADDED', 'a') + '{"type":' },
    );
    const opened: string[] = [];
    const watch = () =>
      events(
        client()
          .resource(PODS)
          .watch({ onOpen: () => opened.push('open') }),
      );
    await assert.rejects(watch(), { name: 'StatusError', code: 410 });
    assert.deepEqual(opened, []);
    await assert.rejects(watch(), (error) => error instanceof ClientError && error.code === 'ECONNRESET');
    await assert.rejects(watch(), { code: 'ERR_NOT_JSON' });
    assert.deepEqual(opened, ['open', 'open']);
  });

  test('leaving the loop ends the request; so does the signal, with its reason', async () => {
    const closed: Promise<unknown>[] = [];
    await using server = await startFakeServer((_, response) => {
      closed.push(new Promise((resolve) => response.on('close', resolve)));
      (response as ServerResponse).write(line('ADDED', 'a'));
    });
    await using transport = createTransport(server.connection());
    const pods = createClient({ transport }).resource(PODS);
    for await (const { type } of pods.watch()) if (type === 'ADDED') break;
    await closed[0];
    const abort = new AbortController();
    const reason = new Error('enough');
    await assert.rejects(
      async () => {
        for await (const _ of pods.watch({ signal: abort.signal })) abort.abort(reason);
      },
      (error) => error === reason,
    );
    await closed[1];
  });
});
