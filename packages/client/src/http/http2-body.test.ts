import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { eachLine } from '../each-line.ts';
import { reply, startFakeServer } from '../testing/fake-server.ts';
import { get, text } from '../testing/requests.ts';
import { createTransport } from './http-transport.ts';

describe('the body of an answer over HTTP/2', () => {
  test('is whole where all of it had come before anybody read it', async () => {
    await using server = await startFakeServer((_, response) => reply(response, 'taken'));
    await using transport = createTransport(server.connection());
    const first = await transport.request(get('/'));
    await text(await transport.request(get('/')));
    assert.equal(await text(first), '"taken"');
  });

  test('line by line: no more is read while one is waited for, and its end comes behind them', async () => {
    const LINES = 200;
    const line = 'x'.repeat(32 * 1024);
    await using server = await startFakeServer((_, response) => {
      const to = response as ServerResponse;
      for (let i = 0; i < LINES; i++) to.write(`${line}\n`);
      to.end('last');
    });
    await using transport = createTransport(server.connection());
    const { body } = await transport.request(get('/', { long: true }));
    const told: number[] = [];
    const held = Promise.withResolvers<void>();
    const second = Promise.withResolvers<void>();
    const done = eachLine(body, { server: server.url }, ({ length }) => {
      told.push(length);
      if (told.length === 2) second.resolve();
      return told.length === 2 ? held.promise : undefined;
    });
    await second.promise;
    for (let turns = 0; turns < 20; turns++) await text(await transport.request(get('/', { long: true })));
    assert.equal(told.length, 2);
    held.resolve();
    await done;
    assert.deepEqual(told, [...Array.from({ length: LINES }, () => line.length), 'last'.length]);
  });

  test('line by line: who leaves in the middle is told of nothing more', async () => {
    const closed = Promise.withResolvers<void>();
    await using server = await startFakeServer((_, response) => {
      const to = response as ServerResponse;
      to.on('close', () => closed.resolve());
      to.write('a\nb\n');
      setImmediate(() => to.write('c\n'));
    });
    await using transport = createTransport(server.connection());
    const { body } = await transport.request(get('/', { long: true }));
    const told: string[] = [];
    const done = eachLine(body, { server: server.url }, (line) => {
      told.push(line.toString());
      throw new Error('enough');
    });
    await assert.rejects(done, { message: 'enough' });
    await closed.promise;
    assert.deepEqual(told, ['a']);
  });
});
