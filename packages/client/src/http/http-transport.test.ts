import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { ClientError } from '../client-error.ts';
import { ALICE_CERT, ALICE_KEY, AUTHORITY, BOB_CERT, BOB_KEY } from '../testing/certificates.ts';
import { type FakeRequest, type FakeResponse, reply, startFakeServer } from '../testing/fake-server.ts';
import { failsWith, get, text } from '../testing/requests.ts';
import { createTransport } from './http-transport.ts';

describe('every protocol', () => {
  for (const protocol of ['h2', 'http1', 'plain'] as const) {
    test(`${protocol}: method, path, headers and body arrive; answers of any status resolve`, async () => {
      const answer = async (request: FakeRequest): Promise<object> => {
        const body = Buffer.concat(await request.toArray()).toString();
        const { url, method, headers, httpVersion } = request;
        return { url, method, authorization: headers.authorization, many: headers['x-many'], httpVersion, body };
      };
      await using server = await startFakeServer(
        (request, response) => void answer(request).then((echo) => reply(response, echo, 418, { 'x-a': 'b' })),
        { protocol },
      );
      await using transport = createTransport(server.connection({ kind: 'token', token: 't0k' }));
      async function* stream(): AsyncGenerator<Uint8Array> {
        yield Buffer.from('a ');
        yield Buffer.from('stream');
      }
      for (const [index, body] of ['text', Buffer.from('bytes'), stream()].entries()) {
        const headers = { 'X-Many': ['a', 'b'], connection: 'keep-alive', gone: undefined };
        const response = await transport.request({ method: 'POST', path: `/x?y=${index}`, headers, body });
        assert.equal(response.status, 418);
        assert.equal(response.headers['x-a'], 'b');
        assert.deepEqual(JSON.parse(await text(response)), {
          url: `/x?y=${index}`,
          method: 'POST',
          authorization: 'Bearer t0k',
          many: 'a, b',
          httpVersion: protocol === 'h2' ? '2.0' : '1.1',
          body: ['text', 'bytes', 'a stream'][index],
        });
      }
      // Finding out that a server has no HTTP/2 takes a connection more.
      assert.ok(server.connections() <= (protocol === 'http1' ? 2 : 1), 'connections are kept');
    });

    test(`${protocol}: the body of a deletion arrives, and nothing is left of it for the next request`, async () => {
      const answer = async (request: FakeRequest): Promise<string> => Buffer.concat(await request.toArray()).toString();
      await using server = await startFakeServer(
        (request, response) => void answer(request).then((body) => reply(response, body)),
        { protocol },
      );
      await using transport = createTransport(server.connection());
      for (const body of ['{"preconditions":{}}', Buffer.from('bytes'), undefined]) {
        const response = await transport.request({ method: 'DELETE', path: '/', body });
        assert.equal(await text(response), JSON.stringify(body?.toString() ?? ''));
      }
    });

    test(`${protocol}: a request is asked about when it goes out, and not sent where that throws`, async () => {
      const seen: (string | undefined)[] = [];
      const answer = ({ url }: FakeRequest, response: FakeResponse): void => {
        seen.push(url);
        reply(response, 'fine');
      };
      await using server = await startFakeServer(answer, { protocol });
      await using transport = createTransport(server.connection());
      let may = true;
      const admit = (): void => {
        if (!may) throw new Error('not any more');
      };
      for (const kept of [false, true]) {
        may = true;
        const sending = transport.request({ method: 'POST', path: `/late?${kept}`, body: 'x', admit });
        may = false; // Its connection is still to be found, or to be opened.
        await assert.rejects(sending, /^Error: not any more$/);
        may = true;
        const response = await transport.request({ method: 'POST', path: `/in-time?${kept}`, body: 'x', admit });
        assert.equal(await text(response), '"fine"');
      }
      assert.deepEqual(seen, ['/in-time?false', '/in-time?true']);
    });

    test(`${protocol}: an abort ends the wait, or the body, with its own reason; the server sees it`, async () => {
      const gone: Promise<unknown>[] = [];
      await using server = await startFakeServer(
        ({ url }, response) => {
          gone.push(once(response, 'close'));
          if (url === '/body') (response as ServerResponse).write('begin');
          server.events.emit('asked');
        },
        { protocol },
      );
      await using transport = createTransport(server.connection());
      const reason = new Error('enough');
      const isReason = (error: unknown): boolean => error === reason;
      await assert.rejects(transport.request(get('/never', { signal: AbortSignal.abort(reason) })), isReason);
      assert.equal(gone.length, 0);

      const waiting = new AbortController();
      const unanswered = transport.request(get('/wait', { signal: waiting.signal }));
      await once(server.events, 'asked');
      waiting.abort(reason);
      await assert.rejects(unanswered, isReason);
      await gone[0];

      const reading = new AbortController();
      const { body } = await transport.request(get('/body', { signal: reading.signal }));
      await once(body, 'readable');
      reading.abort(reason);
      await assert.rejects(body.toArray(), isReason);
      await gone[1];
    });

    test(`${protocol}: a connection that breaks off fails what runs on it, and nothing after it`, async () => {
      await using server = await startFakeServer(
        ({ url }, response) => {
          if (url === '/fine') return reply(response, 'fine');
          if (url === '/body') (response as ServerResponse).write('begin');
          server.events.emit('asked');
        },
        { protocol },
      );
      await using transport = createTransport(server.connection());
      const unanswered = transport.request({ method: 'POST', path: '/', body: 'x' });
      await once(server.events, 'asked');
      for (const socket of server.sockets) {
        if (protocol === 'plain') socket.resetAndDestroy();
        else socket.destroy();
      }
      await assert.rejects(
        unanswered,
        (error: ClientError) => error instanceof ClientError && error.server === server.url,
      );

      const { body } = await transport.request(get('/body'));
      for (const socket of server.sockets) socket.destroy();
      await assert.rejects(body.toArray());
      assert.equal(await text(await transport.request(get('/fine'))), '"fine"');
    });

    test(`${protocol}: a short request that gets no answer times out; a long one does not`, async () => {
      await using server = await startFakeServer(
        ({ url }, response) => void (url === '/late' && setTimeout(() => reply(response, 'late'), 60)),
        { protocol },
      );
      await using transport = createTransport(server.connection(), { responseTimeoutMs: 30 });
      await assert.rejects(
        transport.request(get('/mute?token=secret')),
        failsWith('ERR_RESPONSE_TIMEOUT', /took GET \/mute and did not answer within 30 ms/),
      );
      assert.equal((await transport.request(get('/late', { long: true }))).status, 200);
    });

    test(`${protocol}: closing ends what runs, and refuses what comes`, async () => {
      await using server = await startFakeServer((_, response) => void (response as ServerResponse).write('begin'), {
        protocol,
      });
      const transport = createTransport(server.connection());
      const { body } = await transport.request(get('/', { long: true }));
      await transport.close();
      await assert.rejects(body.toArray());
      await assert.rejects(transport.request(get('/')), failsWith('ERR_TRANSPORT_CLOSED', /was closed/));
    });

    test(`${protocol}: a path in the server's address goes before every path`, async () => {
      await using server = await startFakeServer(({ url }, response) => reply(response, url), { protocol });
      await using transport = createTransport({ ...server.connection(), server: `${server.url}/k8s/c-1/` });
      assert.equal(await text(await transport.request(get('/api'))), '"/k8s/c-1/api"');
    });
  }
});

describe('another identity', () => {
  test('new requests have it at once; what runs goes on as who it was, on its own connection', async () => {
    let finish: (() => void) | undefined;
    await using server = await startFakeServer(
      ({ url, socket }, response) => {
        const user = String((socket as TLSSocket).getPeerCertificate().subject.CN);
        if (url !== '/long') return reply(response, user);
        (response as ServerResponse).write(`${user} `);
        finish = () => response.end('done');
      },
      { tls: { requestCert: true, ca: AUTHORITY } },
    );
    const as = (cert: string, key: string) => server.connection({ kind: 'certificate', cert, key });
    await using transport = createTransport(as(ALICE_CERT, ALICE_KEY));
    const long = await transport.request(get('/long', { long: true }));
    assert.equal(await text(await transport.request(get('/'))), '"alice"');
    const before = [...server.sessions];
    transport.replaceConnection(as(BOB_CERT, BOB_KEY));
    assert.equal(await text(await transport.request(get('/'))), '"bob"');
    const closed = before.filter((session) => !session.closed).map((session) => once(session, 'close'));
    finish?.();
    assert.equal(await text(long), 'alice done');
    await Promise.all(closed);
  });
});
