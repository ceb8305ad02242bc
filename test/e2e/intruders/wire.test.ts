import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2, constants } from 'node:http2';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import type { KeyPair } from '@asterism/apiserver';
import { ask } from './ask.ts';
import { MINE, TREASURE, VAULT } from './furnish.ts';
import { clientCertificate, revisionOf } from './identities.ts';
import { openStage, type Stage, STATIC_TOKEN } from './stage.ts';

const OWN = `/api/v1/namespaces/${MINE}/secrets`;
const OTHERS = `/api/v1/namespaces/${VAULT}/secrets`;

/** Ways to write an address that one may not go to so that it looks like another one. */
const PATHS: [path: string, code: number][] = [
  [`/api/v1/namespaces/${MINE}/../${VAULT}/secrets/treasure`, 403],
  [`/api/v1/namespaces/${MINE}/secrets/../../${VAULT}/secrets/treasure`, 403],
  [`/api/v1/namespaces/${MINE}/%2e%2e/${VAULT}/secrets/treasure`, 403],
  [`/api/v1/namespaces/${MINE}%2f..%2f${VAULT}/secrets/treasure`, 403],
  [`/api/v1/namespaces/${MINE}/secrets/..%2f..%2f${VAULT}%2fsecrets%2ftreasure`, 403],
  [`/api/v1/namespaces/${MINE}%00${VAULT}/secrets`, 403],
  [`/api/v1/namespaces/${MINE}/secrets%2f..%2f`, 404],
  [`/api/v1/./namespaces/${VAULT}/secrets`, 403],
  [`//api/v1/namespaces/${VAULT}/secrets`, 403],
  [`/api//v1/namespaces/${VAULT}/secrets`, 403],
  [`/api/v1//namespaces/${VAULT}/secrets`, 403],
  [`/api/v1/namespaces//${VAULT}/secrets`, 403],
  [`/api/v1/namespaces/${VAULT}//secrets`, 403],
  [`/API/V1/namespaces/${VAULT}/secrets`, 403],
  [`/api/v1/Namespaces/${VAULT}/secrets`, 403],
  [`/api/v1/namespaces/${VAULT}/Secrets/treasure`, 403],
  [`/api/v1/namespaces/${VAULT}/secrets/treasure/`, 403],
  [`/api/v1/namespaces/${VAULT.toUpperCase()}/secrets`, 403],
  [`/api/v1/namespaces/%76ault/secrets/treasure`, 403],
  [`/api/v1/namespaces/%2576ault/secrets/treasure`, 403],
  [`/api/v1/namespaces/${VAULT};x=${MINE}/secrets`, 403],
  [`/api/v1/namespaces/${MINE}\\..\\${VAULT}/secrets`, 403],
  [`/apis//v1/namespaces/${VAULT}/secrets`, 403],
  [`/apis/core/v1/namespaces/${VAULT}/secrets`, 403],
  [`/api/v2/namespaces/${VAULT}/secrets`, 403],
  [`/openapi/../api/v1/namespaces/${VAULT}/secrets`, 404],
  [`/version/../api/v1/namespaces/${VAULT}/secrets`, 403],
  [`/healthz/..%2fapi/v1/namespaces/${VAULT}/secrets`, 403],
  [`/api/v1/namespaces/${MINE}/secrets?namespace=${VAULT}`, 200],
  [`/api/v1/namespaces/${MINE}/secrets/treasure?namespace=${VAULT}`, 404],
  [`/api/v1/namespaces/${MINE}/secrets?fieldSelector=metadata.namespace%3D${VAULT}`, 200],
  [
    `/api/v1/namespaces/${MINE}/secrets?continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi92YXVsdC8ifQ`,
    500,
  ],
  [`/api/v1/namespaces/${VAULT}/secrets/%`, 400],
];

/** The bytes of one connection, and what of an answer must be there. Where it ends, the rest is not looked at. */
const STREAMS: [name: string, bytes: (head: string) => string, answers: RegExp, isAlone?: boolean][] = [
  [
    'two lengths',
    (head) => `POST ${OWN} HTTP/1.1\r\n${head}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'a length and pieces',
    (head) => `POST ${OWN} HTTP/1.1\r\n${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'pieces that are none',
    (head) => `POST ${OWN} HTTP/1.1\r\n${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'pieces within something else',
    (head) => `POST ${OWN} HTTP/1.1\r\n${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'a space before a colon',
    (head) => `POST ${OWN} HTTP/1.1\r\n${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  ['a length with a sign', (head) => `POST ${OWN} HTTP/1.1\r\n${head}Content-Length: +5\r\n\r\n`, /^HTTP\/1\.1 400 /],
  [
    'a header on two lines',
    (head) => `GET ${OWN} HTTP/1.1\r\n${head}X-A: b\r\n Impersonate-User: admin\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'lines that end early',
    (head) => `GET ${OWN} HTTP/1.1\r\n${head}X-A: b\nImpersonate-User: admin\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'a name with a control character',
    (head) => `GET ${OWN} HTTP/1.1\r\n${head}X\u0000A: b\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  ['an address with a space', (head) => `GET ${OWN} /x HTTP/1.1\r\n${head}\r\n`, /^HTTP\/1\.1 400 /],
  [
    'a whole address',
    (head) => `GET https://localhost${OTHERS} HTTP/1.1\r\n${head}Connection: close\r\n\r\n`,
    /^HTTP\/1\.1 403 /,
    true,
  ],
  [
    'an address of nothing but a host',
    (head) => `CONNECT localhost:443 HTTP/1.1\r\n${head}\r\n`,
    /^(HTTP\/1\.1 4\d\d |$)/,
  ],
  [
    'headers that say to drop who he is',
    (head) =>
      `GET ${OTHERS} HTTP/1.1\r\n${head}Connection: close, authorization, impersonate-user\r\nImpersonate-User: admin\r\n\r\n`,
    /^HTTP\/1\.1 403 /,
    true,
  ],
];

describe('requests that are not what they seem', () => {
  let stage: Stage;
  let certificate: KeyPair;

  before(async () => {
    stage = await openStage();
    certificate = await clientCertificate(stage.server.ca, 'cert', []);
  });

  after(() => stage?.[Symbol.asyncDispose]());

  for (const [path, code] of PATHS) {
    test(`the path ${path} is taken as it is`, async () => {
      const { server } = stage;
      const before = await revisionOf(server.client);
      for (const credential of [{ certificate }, {}]) {
        const answer = await ask(server, credential, { path });
        const expected = credential.certificate === undefined && code !== 400 ? 403 : code;
        assert.equal(answer.status, expected, answer.text);
        assert.doesNotMatch(answer.text, LEAK);
      }
      assert.equal(await revisionOf(server.client), before, 'something was changed');
    });
  }

  for (const start of ['/../vault/', '/../', '/\0', '/own\0', '/vault/treasure', `/${'x/'.repeat(50)}../vault`]) {
    test(`a list that is to go on at ${JSON.stringify(start)} stays where it is`, async () => {
      const { server } = stage;
      const rv = Number(await revisionOf(server.client));
      const token = Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');
      const { status, text } = await ask(server, { certificate }, { path: `${OWN}?limit=5&continue=${token}` });
      assert.ok(status === 200 || status === 400 || status === 500, text);
      assert.doesNotMatch(text, LEAK);
      const { items = [] } = JSON.parse(text) as { items?: { metadata: { namespace: string } }[] };
      assert.deepEqual(
        items.filter(({ metadata }) => metadata.namespace !== MINE),
        [],
      );
    });
  }

  for (const [name, bytes, answers, isAlone = false] of STREAMS) {
    test(`${name}: one answer at most, and nothing behind it is read`, async () => {
      const { server } = stage;
      const before = await revisionOf(server.client);
      const head = `Host: localhost\r\nAuthorization: Bearer ${STATIC_TOKEN}\r\n`;
      const smuggled = `DELETE ${OWN}/own HTTP/1.1\r\n${head}\r\n`;
      const text = await exchange(server, bytes(head) + (isAlone ? '' : smuggled));
      assert.match(text, answers);
      assert.ok((text.match(/HTTP\/1\.1 /g) ?? []).length <= 1, text);
      assert.doesNotMatch(text, LEAK);
      assert.equal(await revisionOf(server.client), before, 'something was changed');
    });
  }

  const FRAMES: [name: string, headers: Record<string, string>][] = [
    ['headers of HTTP/1.1', { 'transfer-encoding': 'chunked' }],
    ['a connection of its own', { connection: 'close' }],
    ['another path in a header', { 'x-original-url': OTHERS, 'x-rewrite-url': OTHERS }],
    ['another authority', { ':authority': 'admin.example' }],
  ];
  for (const [name, headers] of FRAMES) {
    test(`HTTP/2 with ${name} leads nowhere else`, async () => {
      const { server } = stage;
      const before = await revisionOf(server.client);
      const session = connectHttp2(server.url, { ca: server.ca.cert, ...certificate });
      session.on('error', () => {});
      const text = await new Promise<string>((resolve) => {
        let body = '';
        try {
          const stream = session.request({ ':path': `${OTHERS}/treasure`, ...headers });
          stream.on('response', ({ [constants.HTTP2_HEADER_STATUS]: status }) => (body += `${String(status)} `));
          stream.on('data', (piece) => (body += String(piece))).on('error', () => {});
          stream.on('close', () => resolve(body));
        } catch (error) {
          resolve(`refused ${(error as Error).message}`);
        }
      });
      session.destroy();
      assert.match(text, /^(403 |refused |$)/);
      assert.doesNotMatch(text, LEAK);
      assert.equal(await revisionOf(server.client), before, 'something was changed');
    });
  }
});

const LEAK = new RegExp(`${TREASURE}|${Buffer.from(TREASURE).toString('base64')}`);

/** Sends bytes on a connection of their own, and gives all that comes until it ends. */
async function exchange({ url, ca }: Stage['server'], bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ca: ca.cert, ALPNProtocols: ['http/1.1'] });
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (piece) => (text += String(piece)));
  socket.end(bytes);
  if (!socket.closed) await once(socket, 'close');
  return text;
}
