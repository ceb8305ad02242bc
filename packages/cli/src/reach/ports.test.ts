import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { CommandError } from '../exit-code.ts';
import { listenLocally } from './listen-locally.ts';
import type { Located } from './locate.ts';
import { parsePortPair, type PortPair, remotePort } from './ports.ts';
import { parseTarget } from './target.ts';

const pairs: [text: string, pair: PortPair | undefined][] = [
  ['80', { local: 80, remote: '80' }],
  ['8080:80', { local: 8080, remote: '80' }],
  [':80', { local: 0, remote: '80' }],
  ['0:80', { local: 0, remote: '80' }],
  ['8080:http', { local: 8080, remote: 'http' }],
  [':http-2', { local: 0, remote: 'http-2' }],
  ['http', { local: 0, remote: 'http' }],
  ['', undefined],
  [':', undefined],
  ['80:', undefined],
  ['0', undefined],
  ['65536', undefined],
  ['a:b', undefined],
  ['1:2:3', undefined],
  ['80:HTTP', undefined],
  ['80:-a', undefined],
];
for (const [text, pair] of pairs) {
  test(`ports ${JSON.stringify(text)}`, () => {
    if (pair) assert.deepEqual(parsePortPair(text), pair);
    else assert.throws(() => parsePortPair(text), CommandError);
  });
}

const pod = { metadata: { name: 'web' }, spec: { containers: [{ ports: [{ name: 'http', containerPort: 8000 }] }] } };
const service = (spec: object) => ({ metadata: { name: 'web' }, spec });
const ports = [{ port: 80, targetPort: 'http', name: 'web' }, { port: 81, targetPort: 9000 }, { port: 82 }];
const remotes: [name: string, target: string, object: object, remote: string, port: number | RegExp][] = [
  ['a number', 'web', pod, '80', 80],
  ['a name', 'web', pod, 'http', 8000],
  ['a name that is none', 'web', pod, 'x', /pod web has no port "x": it has http/],
  ["a Service's, to a name", 'svc/web', service({ ports }), '80', 8000],
  ["a Service's by name", 'svc/web', service({ ports }), 'web', 8000],
  ["a Service's, to a number", 'svc/web', service({ ports }), '81', 9000],
  ["a Service's, as it is", 'svc/web', service({ ports }), '82', 82],
  ['none of the Service', 'svc/web', service({ ports }), '83', /service web has no port 83: it has 80 \(web\), 81, 82/],
  ["a headless Service's", 'svc/web', service({ ports, clusterIP: 'None' }), '81', 81],
];
for (const [name, target, object, remote, port] of remotes) {
  test(`the port of the pod behind ${name}`, () => {
    const located = { object, pods: [pod] } as unknown as Located;
    const find = (): number => remotePort(parseTarget(target), located, remote);
    if (typeof port === 'number') assert.equal(find(), port);
    else assert.throws(find, port);
  });
}

const targets: [word: string, resource: string | undefined, name?: string][] = [
  ['web-0', 'pods', 'web-0'],
  ['po/web-0', 'pods', 'web-0'],
  ['Pod/web-0', 'pods', 'web-0'],
  ['deploy/web', 'deployments', 'web'],
  ['deployments.apps/web', 'deployments', 'web'],
  ['sts/db', 'statefulsets', 'db'],
  ['job/once', 'jobs', 'once'],
  ['svc/web', 'services', 'web'],
  ['rc/old', 'replicationcontrollers', 'old'],
  ['cm/x', undefined],
  ['deploy/', undefined],
  ['a/b/c', undefined],
  ['', undefined],
];
for (const [word, resource, name] of targets) {
  test(`the target ${JSON.stringify(word)}`, () => {
    if (resource === undefined) return assert.throws(() => parseTarget(word), CommandError);
    const target = parseTarget(word);
    assert.deepEqual([target.type.resource, target.name], [resource, name]);
  });
}

test('listening: the same free port at each address, half-open connections', { timeout: 10_000 }, async () => {
  const listeners = await listenLocally(['127.0.0.1', '127.0.0.2'], 0, (socket) => {
    void text(socket).then((said) => socket.end(`heard ${said}`));
  });
  assert.equal(listeners.length, 2);
  assert.equal(listeners[0]?.port, listeners[1]?.port);
  for (const { address, port } of listeners) {
    const socket = connect({ host: address, port, allowHalfOpen: true });
    socket.end('this');
    assert.equal(await text(socket), 'heard this');
  }
  for (const { server } of listeners) server.close();
});

test('listening where somebody does already is refused, and leaves nothing open', { timeout: 10_000 }, async () => {
  const taken = createServer().listen(0, '127.0.0.2');
  await once(taken, 'listening');
  const { port } = taken.address() as { port: number };
  await assert.rejects(
    listenLocally(['127.0.0.1', '127.0.0.2'], port, () => {}),
    /cannot listen at port \d+ of 127\.0\.0\.2/,
  );
  const again = createServer().listen(port, '127.0.0.1');
  await once(again, 'listening');
  again.close();
  taken.close();
});
