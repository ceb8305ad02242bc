import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:http2';
import { Agent, request as httpsRequest } from 'node:https';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import type { Headers } from '@asterism/client';
import { memberProxyPath } from '@asterism/fleet/api';
import { CONFIG_MAPS } from '@asterism/machinery';
import { connectionOf } from '../../cluster/connection-of.ts';
import { CONTROL_PLANE_BINARIES } from '../../cluster/control-plane.ts';
import { EmbeddedHub } from '../../cluster/embedded-hub.ts';
import { openHub } from '../../cluster/fleet.ts';
import type { FleetHub } from '../../cluster/fleet-hub.ts';
import { KubernetesHub } from '../../cluster/kubernetes-hub.ts';
import { unlessThere } from '../../cluster/real-kubernetes.ts';
import { RunFolder } from '../../cluster/run-folder.ts';
import { startHostileAgent } from './hostile-agent.ts';

const FORGED = '{"kind":"ConfigMap","apiVersion":"v1","data":{"is":"forged"}}';
const RESPONSE = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${FORGED.length}\r\n\r\n${FORGED}`;
const TRUTH = '/api/v1/namespaces/default/configmaps/truth';
const NAME = 'birch';
const PROXY = memberProxyPath(NAME);

interface Forgery {
  status?: number;
  headers?: Headers;
  /** Sent with the head. */
  pieces?: string[];
  /** Sent when the caller has the answer, on a stream that does not end before. */
  later?: string;
  /** What the caller gets: an answer, or none that is whole. */
  gives: number | 'error';
}

const LENGTH = { 'content-length': '5', 'content-type': 'text/plain' };
const FORGERIES: Record<string, Forgery> = {
  plain: { headers: LENGTH, pieces: ['hello'], gives: 200 },
  late: { headers: LENGTH, pieces: ['hello'], later: RESPONSE, gives: 200 },
  long: { headers: LENGTH, pieces: [`hello${RESPONSE}`], gives: 'error' },
  'long-in-pieces': { headers: LENGTH, pieces: ['he', `llo${RESPONSE}`], gives: 'error' },
  short: { headers: { 'content-length': '500' }, pieces: ['hello'], gives: 'error' },
  'two-lengths': { headers: { 'content-length': ['5', '50'] }, pieces: ['hello'], gives: 'error' },
  'same-length-twice': { headers: { 'content-length': ['5', '5'] }, pieces: ['hello'], gives: 'error' },
  'bad-length': { headers: { 'content-length': '+5' }, pieces: ['hello'], gives: 'error' },
  'body-of-204': { status: 204, headers: LENGTH, pieces: [RESPONSE], gives: 204 },
  'body-of-304': { status: 304, headers: LENGTH, pieces: [RESPONSE], gives: 304 },
  100: { status: 100, pieces: [RESPONSE], gives: 'error' },
  101: { status: 101, headers: { upgrade: 'websocket', connection: 'upgrade' }, pieces: [RESPONSE], gives: 'error' },
  103: { status: 103, headers: { link: '</x>; rel=preload' }, pieces: [RESPONSE], gives: 'error' },
  199: { status: 199, pieces: [RESPONSE], gives: 'error' },
};

/** Headers by which a member would speak for the hub. */
const OF_ORIGIN = {
  'access-control-allow-origin': '*',
  'alt-svc': 'h2="evil.example:443"',
  'clear-site-data': '"*"',
  location: 'https://evil.example/',
  nel: '{}',
  refresh: '0; url=https://evil.example/',
  'set-cookie': 'a=b',
  'strict-transport-security': 'max-age=1',
  'www-authenticate': 'Basic realm="hub"',
};

interface Got {
  status: number | 'error';
  headers: Record<string, unknown>;
  text: string;
}

for (const [form, startHub] of [
  ['an embedded hub', (run: RunFolder): Promise<FleetHub> => EmbeddedHub.start(run)],
  ['a hub on a kube-apiserver', (run: RunFolder): Promise<FleetHub> => KubernetesHub.start(run)],
] as const) {
  describe(`a hostile agent forges answers, ${form}`, { skip: unlessThere(...CONTROL_PLANE_BINARIES) }, () => {
    const parts = new AsyncDisposableStack();
    /** Of the answers that go on later. */
    const streams: PassThrough[] = [];
    let server: { host: string; port: number; ca: string; cert: string; key: string };

    before(async () => {
      const run = parts.use(await RunFolder.open());
      const hub = await openHub(run, parts.use(await startHub(run)), parts);
      await hub.client.resource(CONFIG_MAPS).create({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'truth', namespace: 'default' },
        data: { is: 'the hub’s' },
      });
      await startHostileAgent(hub, NAME, ({ path }) => forge(path), parts);
      const { credential, caData = '' } = await connectionOf(hub.hub.kubeconfig);
      assert.ok(credential.kind === 'certificate');
      const { hostname, port } = new URL(hub.address);
      server = { host: hostname, port: Number(port), ca: caData, cert: credential.cert, key: credential.key };
      for (const late = AbortSignal.timeout(20_000); ; ) {
        const { status, text } = await viaHttp1(new Agent({ maxSockets: 1 }), `${PROXY}/plain`);
        if (status === 200) break;
        assert.ok(!late.aborted, `the member is not reached: ${status} ${text}`);
      }
    });

    after(() => parts.disposeAsync());

    const forge = (path: string) => {
      const {
        status = 200,
        headers = {},
        pieces = [],
        later,
      }: Omit<Forgery, 'gives'> = path.startsWith('/origin')
        ? { status: 401, headers: OF_ORIGIN, pieces: ['no'] }
        : (FORGERIES[path.slice(1)] ?? { headers: LENGTH, pieces: ['hello'] });
      const body = new PassThrough();
      for (const piece of pieces) body.write(piece);
      if (later === undefined) body.end();
      else streams.push(body);
      return { status, headers, body };
    };

    const viaHttp1 = async (agent: Agent, path: string, headers = {}): Promise<Got> => {
      const request = httpsRequest({ ...server, agent, path, headers });
      request.end();
      try {
        const [answer] = (await once(request, 'response')) as [IncomingMessage];
        let text = '';
        for await (const piece of answer) text += String(piece);
        return { status: answer.statusCode ?? 0, headers: answer.headers, text };
      } catch (error) {
        return { status: 'error', headers: {}, text: String(error) };
      }
    };

    const isRight = ({ status, text }: Got, gives: Forgery['gives']): void => {
      assert.ok(!text.includes('forged'), text);
      if (gives !== 'error') assert.equal(status, gives, text);
      else assert.ok(status === 'error' || status >= 500, `${status} ${text}`);
    };

    for (const [name, { gives, later }] of Object.entries(FORGERIES)) {
      test(`${name}: over HTTP/1.1 the next answer is the hub’s`, async () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 });
        streams.length = 0;
        isRight(await viaHttp1(agent, `${PROXY}/${name}`), gives);
        for (const stream of streams) stream.write(later);
        for (let times = 0; times < 3; times++) {
          const next = await viaHttp1(agent, TRUTH);
          // A connection that the hub cut may be found out by the next request on it.
          if (next.status !== 'error' || times > 0)
            assert.deepEqual([next.status, JSON.parse(next.text).data.is], [200, 'the hub’s']);
        }
        for (const stream of streams) stream.destroy();
        agent.destroy();
      });
    }

    test('over HTTP/2 each forgery spoils its own stream alone', async () => {
      const session = connect(`https://${server.host}:${server.port}`, server);
      const ask = async (path: string): Promise<Got> => {
        const stream = session.request({ ':path': path });
        try {
          const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
          let text = '';
          for await (const piece of stream) text += String(piece);
          return { status: Number(headers[':status']), headers, text };
        } catch (error) {
          return { status: 'error', headers: {}, text: String(error) };
        }
      };
      for (const [name, { gives, later }] of Object.entries(FORGERIES)) {
        streams.length = 0;
        isRight(await ask(`${PROXY}/${name}`), gives);
        for (const stream of streams) stream.write(later);
        const next = await ask(TRUTH);
        assert.deepEqual([next.status, JSON.parse(next.text).data.is], [200, 'the hub’s'], name);
        for (const stream of streams) stream.destroy();
      }
      session.close();
    });

    test('headers that speak for the hub do not pass', async () => {
      const agent = new Agent({ maxSockets: 1 });
      const { status, headers } = await viaHttp1(agent, `${PROXY}/origin`);
      assert.equal(status, 401);
      assert.deepEqual(
        Object.keys(OF_ORIGIN).filter((name) => String(headers[name]) === String(OF_ORIGIN[name as 'nel'])),
        [],
      );
    });

    test('an upgrade is answered by no forgery either', async () => {
      for (const [name, { gives }] of Object.entries(FORGERIES)) {
        if (name === 'late') continue;
        const agent = new Agent({ maxSockets: 1 });
        const got = await viaHttp1(agent, `${PROXY}/${name}`, { connection: 'Upgrade', upgrade: 'SPDY/3.1' });
        // A kube-apiserver before the hub says 503 of any answer that is no switch.
        isRight(got, got.status === 503 ? 'error' : gives);
        agent.destroy();
      }
    });
  });
}
