import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { after, before, describe, test } from 'node:test';
import { reply } from '@asterism/client/testing';
import { CommandError, EXIT } from '../exit-code.ts';
import { type FakeHub, fakeTerminal, startFakeHub } from '../testing/fake-hub.ts';
import { logs, type LogsFlags } from './logs.ts';

const POD = {
  metadata: { namespace: 'demo', name: 'web' },
  spec: { nodeName: 'n', containers: [{ name: 'app' }, { name: 'side' }], initContainers: [{ name: 'first' }] },
  status: { phase: 'Running' },
};
const ALDER = '/apis/proxy.asterism.dev/v1alpha1/clusters/alder/proxy/api/v1/namespaces/demo/pods';

describe('aster logs', () => {
  let hub: FakeHub;
  let queries: string[] = [];
  /** Breaks off in the middle. */
  let broken = false;
  /** What a hostile container writes. */
  let evil = '';

  before(async () => {
    hub = await startFakeHub((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'https://hub');
      if (pathname.startsWith('/apis/search.')) {
        const metadata = { annotations: { 'search.asterism.dev/cluster': 'alder' } };
        return reply(response, { items: [{ metadata }] });
      }
      if (pathname === ALDER) return reply(response, { items: [POD] });
      if (pathname === `${ALDER}/web`) return reply(response, POD);
      queries.push(searchParams.toString());
      const container = searchParams.get('container');
      if (container === 'first') {
        const message = 'container "first" in pod "web" is waiting to start';
        return reply(response, { kind: 'Status', code: 400, reason: 'BadRequest', message }, 400);
      }
      response.writeHead(200, { 'content-type': 'text/plain' });
      // Written, so that the break comes behind it.
      return response.write(`${container} one\n${container} two${evil}`, () =>
        broken ? response.destroy() : response.end(),
      );
    });
  });
  after(() => hub[Symbol.asyncDispose]());

  async function run(word: string | undefined, flags: Partial<LogsFlags> & { screen?: boolean } = {}) {
    queries = [];
    const { screen = false, ...given } = flags;
    const terminal = fakeTerminal();
    const streams = {
      stdin: new PassThrough(),
      stdout: Object.assign(new PassThrough(), { isTTY: screen }),
      stderr: new PassThrough(),
      screen: undefined,
    };
    const all = { kubeconfig: hub.kubeconfig, namespace: 'demo', maxLogRequests: '5', ...given };
    const code = await logs(word, all, { terminal, streams });
    return { code, stdout: String(streams.stdout.read() ?? ''), stderr: terminal.stderr };
  }

  test('byte for byte, of the first container, which is said', async () => {
    const { code, stdout, stderr } = await run('web', { tail: '2' });
    assert.deepEqual([code, stdout, queries], [EXIT.fine, 'app one\napp two', ['tailLines=2&container=app']]);
    assert.equal(stderr, 'Defaulted container "app" out of: app, side, first\n');
  });

  test('on a screen without control characters, in a pipe as it is', async () => {
    evil = '\u001b]0;t\u0007\u009b31m\u202e\rEVIL';
    const onScreen = await run('web', { container: 'app', screen: true });
    const prefixed = await run('web', { container: 'app', screen: true, prefix: true });
    const inPipe = await run('web', { container: 'app' });
    evil = '';
    assert.equal(onScreen.stdout, 'app one\napp two^[]0;t^G\\u009b31m\\u202e^MEVIL');
    assert.match(prefixed.stdout, /^\[alder\/web\/app\] app two\^\[\]0;t\^G.*EVIL$/m);
    assert.equal(inPipe.stdout, 'app one\napp two\u001b]0;t\u0007\u009b31m\u202e\rEVIL');
  });

  test('with where each line is from', async () => {
    const { stdout } = await run('web', { container: 'side', prefix: true });
    assert.equal(stdout, '[alder/web/side] side one\n[alder/web/side] side two\n');
  });

  test('of what labels select the last lines alone', async () => {
    await run(undefined, { selector: 'app=web', container: 'app' });
    assert.deepEqual(queries, ['tailLines=10&container=app']);
  });

  test('of all containers, in the order in which they start: what cannot be had ends it', async () => {
    await assert.rejects(run('web', { allContainers: true }), /"first" in pod "web" is waiting to start/);
    assert.deepEqual(queries, ['container=first']);
  });

  test('followed, all that can be had, by whole lines; the rest is named', async () => {
    const { code, stdout, stderr } = await run('web', { allContainers: true, follow: true });
    assert.equal(code, EXIT.error);
    assert.deepEqual(stdout.split('\n').sort(), ['', 'app one', 'app two', 'side one', 'side two']);
    assert.match(stderr, /^web first: .*is waiting to start$/m);
  });

  test('a log that breaks off is none that has ended', async () => {
    broken = true;
    await assert.rejects(
      run('web', { container: 'app' }),
      /^CommandError: the log of pod web, container app, in alder broke off: /,
    );
    broken = false;
  });

  const refused: [name: string, word: string | undefined, flags: Partial<LogsFlags>, message: RegExp][] = [
    ['nothing', undefined, {}, /whose log/],
    ['a name and labels', 'web', { selector: 'a=b' }, /-l do not go together/],
    ['one container and all', 'web', { container: 'a', allContainers: true }, /-c and --all-containers/],
    ['more at once than wanted', 'web', { allContainers: true, follow: true, maxLogRequests: '2' }, /^3 logs would be/],
    ['no number of logs', 'web', { maxLogRequests: '0' }, /--max-log-requests/],
    ['a container that is not there', 'web', { container: 'x' }, /no container "x"/],
  ];
  for (const [name, word, flags, message] of refused) {
    test(`refuses ${name}`, async () => {
      await assert.rejects(run(word, flags), (error) => error instanceof CommandError && message.test(error.message));
    });
  }
});
