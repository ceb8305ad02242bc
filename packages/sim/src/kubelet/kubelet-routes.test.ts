import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { failure } from '@asterism/machinery';
import type { LogOptions } from '../machine/container-runtime.ts';
import { startTestKubelet, type TestKubelet } from './testing/start-test-kubelet.ts';

async function ask(t: TestKubelet, path: string, method = 'GET'): Promise<IncomingMessage> {
  const socket = await t.connect();
  const asked = request({ createConnection: () => socket, path, method, host: 'localhost' });
  asked.on('error', () => {});
  asked.end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  return response;
}

const answers: [method: string, path: string, status: number, body: RegExp][] = [
  ['GET', '/healthz', 200, /^ok$/],
  ['GET', '/pods', 200, /^\{"kind":"PodList","apiVersion":"v1".*"name":"web"/],
  ['GET', '/stats/summary', 200, /"podRef":\{"name":"web","namespace":"default","uid":"u1"\}.*"usageNanoCores":1000/],
  ['DELETE', '/pods', 405, /^Method Not Allowed/],
  ['GET', '/nothing', 404, /Page Not Found/],
  ['GET', '/containerLogs/default/web', 404, /Page Not Found/],
  ['GET', '/containerLogs/default/gone/app', 404, /^pod "gone" does not exist\n$/],
  ['GET', '/containerLogs/default/web/app?limitBytes=0', 422, /limitBytes: Invalid value: 0/],
  ['GET', '/containerLogs/default/web/%zz', 400, /Bad Request/],
  ['GET', '/exec/default/web/app?output=1', 400, /unable to upgrade: missing upgrade headers/],
  ['POST', '/run/default/web/app?cmd=echo%20hi', 200, /^echo hi$/],
  ['POST', '/run/default/web/app?cmd=false', 500, /^command 'false' exited with 1: false\n$/],
];
for (const [method, path, status, body] of answers) {
  test(`${method} ${path}`, { timeout: 20_000 }, async () => {
    await using t = await startTestKubelet();
    t.backend.play = (process) => {
      const command = process.options.command ?? [];
      process.stdout.write(command.join(' '));
      process.exit(command[0] === 'false' ? 1 : 0);
    };
    const response = await ask(t, path, method);
    assert.equal(response.statusCode, status);
    assert.match(await text(response), body);
  });
}

test('a log as it comes, until its reader leaves', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const next = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  let asked: LogOptions | undefined;
  t.backend.log = async function* (options, signal) {
    asked = options;
    yield Buffer.from('one\n');
    await next.promise;
    yield Buffer.from('two\n');
    await once(signal, 'abort');
    over.resolve();
  };
  const response = await ask(t, '/containerLogs/default/web/app?follow=true&tail=5');
  assert.deepEqual(asked, { follow: true, previous: false, timestamps: false, tailLines: 5 });
  assert.equal(String((await once(response, 'data'))[0]), 'one\n');
  next.resolve();
  assert.equal(String((await once(response, 'data'))[0]), 'two\n');
  response.destroy();
  await over.promise;
});

test('a quiet log begins all the same', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  const over = Promise.withResolvers<void>();
  t.backend.log = async function* (_options, signal) {
    await once(signal, 'abort');
    over.resolve();
    yield Buffer.alloc(0);
  };
  const response = await ask(t, '/containerLogs/default/web/app?follow=true');
  assert.equal(response.statusCode, 200);
  response.destroy();
  await over.promise;
});

test('a log that is not there', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  t.backend.log = async function* () {
    yield* [];
    throw failure(400, 'container "app" in pod "web" is waiting to start: ContainerCreating');
  };
  const response = await ask(t, '/containerLogs/default/web/app');
  assert.equal(response.statusCode, 400);
  assert.equal(await text(response), 'container "app" in pod "web" is waiting to start: ContainerCreating\n');
});

test('a log waits for its reader', { timeout: 20_000 }, async () => {
  await using t = await startTestKubelet();
  let yielded = 0;
  t.backend.log = async function* () {
    for (; yielded < 3000; yielded++) yield Buffer.alloc(65_536, 'x');
  };
  const response = await ask(t, '/containerLogs/default/web/app?follow=true');
  await once(response, 'readable');
  const other = await ask(t, '/healthz');
  assert.equal(await text(other), 'ok');
  assert.ok(yielded < 1500, `${yielded} pieces for nobody`);
  let length = 0;
  for await (const piece of response) length += (piece as Buffer).length;
  assert.equal(length, 3000 * 65_536);
});
