import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, test } from 'node:test';
import { reply } from '@asterism/client/testing';
import { describeError, EXIT, exitCodeOf } from '../exit-code.ts';
import { fakeTerminal, startFakeHub } from '../testing/fake-hub.ts';
import { createToken } from './create-token.ts';
import { describe as describeObjects } from './describe.ts';
import { get } from './get.ts';
import { search } from './search.ts';
import { why } from './why.ts';

type Fault = (response: ServerResponse) => void;

const text =
  (status: number, body: string): Fault =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body);
const unreachable = { kind: 'Status', code: 503, message: 'error trying to reach service: dial tcp: refused' };
/** As something between that ends a chunked answer in the middle. */
const truncated: Fault = (response) => void response.writeHead(200).end('{"kind":"Table","rows":[{"ce');

const TYPES = {
  groupVersion: 'v1',
  resources: [{ name: 'pods', singularName: 'pod', namespaced: true, kind: 'Pod', verbs: ['list'] }],
};

/** A hub on a kube-apiserver that answers for itself, while `fault` is in the place of one of its APIs. */
const hubWith = (path: RegExp, fault: Fault) =>
  startFakeHub(({ url = '' }, response) => {
    if (path.test(url)) return fault(response);
    if (url === '/api') return reply(response, { versions: ['v1'] });
    if (url === '/api/v1') return reply(response, TYPES);
    if (url === '/apis') return reply(response, { groups: [] });
    return reply(response, { items: [{ metadata: { name: 'edge' } }] });
  });

/** One line for a person: nothing of a parser, of a stack or of code. */
function assertClear(line: string, says: RegExp): void {
  assert.match(line, says);
  assert.doesNotMatch(line, /Unexpected (token|end)|JSON at position|undefined|\n/);
}

async function lineOf(command: Promise<number>): Promise<string> {
  const error: unknown = await command.then(
    (code) => assert.fail(`it ended with ${code}`),
    (cause: unknown) => cause,
  );
  assert.equal(exitCodeOf(error), EXIT.error);
  return describeError(error);
}

const SEARCH = /^\/apis\/search\.asterism\.dev\//;
const PROXY = /^\/apis\/proxy\.asterism\.dev\//;

describe('an aggregated API that is not there', () => {
  for (const [name, fault, says] of [
    [
      'not available yet',
      text(503, 'service unavailable\n'),
      /503: service unavailable\): the hub behind it is starting/,
    ],
    ['out of reach', text(502, 'error trying to reach service: dial tcp 10.0.0.7:7443: refused'), /502: error trying/],
    ['out of reach, told as a Status', (response) => reply(response, unreachable, 503), /503: error trying to reach/],
    ['behind a gateway with nothing to say', text(503, ''), /does not answer \(503\)/],
  ] as [string, Fault, RegExp][]) {
    test(`search, ${name}`, async () => {
      await using hub = await hubWith(SEARCH, fault);
      for (const output of [{}, { output: 'json' as const }]) {
        const line = await lineOf(search(['pods'], { kubeconfig: hub.kubeconfig, ...output }, fakeTerminal()));
        assertClear(line, says);
        assertClear(line, new RegExp(`^search\\.asterism\\.dev/v1alpha1 at ${hub.url} does not answer`));
        assertClear(line, /Try again .*`kubectl get apiservice v1alpha1\.search\.asterism\.dev` tells why$/);
      }
    });
  }

  test('search where no hub was ever registered', async () => {
    await using hub = await hubWith(SEARCH, text(404, '404 page not found\n'));
    const line = await lineOf(search(['pods'], { kubeconfig: hub.kubeconfig }, fakeTerminal()));
    assertClear(line, /serves no search\.asterism\.dev\/v1alpha1 \(404: 404 page not found\): is it a hub's\?/);
  });

  test('the way into a member: get says so of the cluster, describe ends with it', async () => {
    await using hub = await hubWith(PROXY, text(503, 'service unavailable'));
    const flags = { kubeconfig: hub.kubeconfig, clusters: 'edge' };
    const terminal = fakeTerminal();
    assert.equal(await get(['pods'], flags, terminal), EXIT.error);
    assertClear(terminal.stderr.trimEnd(), /^edge: proxy\.asterism\.dev\/v1alpha1 at .* does not answer \(503/);
    assertClear(await lineOf(describeObjects(['pods', 'x'], flags, fakeTerminal())), /^proxy\.asterism\.dev\/v1alpha1/);
  });

  test("an API of the member's own is told by its name, and what the hub says itself as the hub says it", async () => {
    const own = { kind: 'Status', reason: 'ServiceUnavailable', code: 503, message: 'cluster edge is not connected' };
    await using hub = await startFakeHub(({ url = '' }, response) => {
      const inner = url.replace(/.*\/proxy\//, '/');
      if (!PROXY.test(url)) return reply(response, { items: [{ metadata: { name: 'edge' } }] });
      if (inner === '/api') return reply(response, { versions: ['v1'] });
      if (inner === '/apis') return reply(response, { groups: [{ name: 'x.io', versions: [{ version: 'v1' }] }] });
      if (inner === '/apis/x.io/v1') {
        return reply(response, { groupVersion: 'x.io/v1', resources: [{ name: 'xs', kind: 'X', verbs: ['list'] }] });
      }
      if (inner.startsWith('/apis/x.io/v1/xs')) return text(503, 'service unavailable')(response);
      return inner === '/api/v1' ? reply(response, TYPES) : reply(response, own, 503);
    });
    const lines = await Promise.all(
      ['xs', 'pods'].map(async (type) => {
        const terminal = fakeTerminal();
        await get([type], { kubeconfig: hub.kubeconfig, clusters: 'edge' }, terminal);
        return terminal.stderr.trimEnd();
      }),
    );
    assertClear(lines[0] ?? '', /^edge: x\.io\/v1 of cluster edge does not answer \(503: service unavailable\)/);
    assert.equal(lines[1], 'edge: Error from server (ServiceUnavailable): cluster edge is not connected');
  });
});

describe('a hub that answers what it should not', () => {
  const commands: [string, (kubeconfig: string) => Promise<number>][] = [
    ['get', (kubeconfig) => get(['pods'], { kubeconfig }, fakeTerminal())],
    ['get -C', (kubeconfig) => get(['pods'], { kubeconfig, clusters: 'all' }, fakeTerminal())],
    ['get -o json', (kubeconfig) => get(['pods'], { kubeconfig, output: 'json' }, fakeTerminal())],
    ['search', (kubeconfig) => search(['pods'], { kubeconfig }, fakeTerminal())],
    ['describe', (kubeconfig) => describeObjects(['pods', 'x'], { kubeconfig }, fakeTerminal())],
    ['why', (kubeconfig) => why(['pods', 'x'], { kubeconfig }, fakeTerminal())],
    ['token create', (kubeconfig) => createToken({ kubeconfig, ttl: '1h' }, fakeTerminal())],
  ];
  for (const [name, fault, says] of [
    ['a page of a load balancer', text(503, '<html>\n<h1>503</h1>'), /503: <html> <h1>503<\/h1>\): /],
    ['a gateway that finds nobody', text(502, 'Bad Gateway'), /502: Bad Gateway\): /],
    ['JSON that breaks off', truncated, /is not JSON: it was cut off .*Try again/],
    ['another site', text(200, '<html>welcome</html>'), /is not JSON: .*check the address in the kubeconfig/],
  ] as [string, Fault, RegExp][]) {
    test(name, async () => {
      await using hub = await startFakeHub((_, response) => fault(response));
      for (const [, command] of commands) assertClear(await lineOf(command(hub.kubeconfig)), says);
    });
  }

  test('a table that breaks off, behind discovery that did not', async () => {
    await using hub = await hubWith(/^\/api\/v1\/namespaces\//, truncated);
    const line = await lineOf(get(['pods'], { kubeconfig: hub.kubeconfig }, fakeTerminal()));
    assertClear(line, /^GET \/api\/v1\/namespaces\/default\/pods: the answer, .* is not JSON/);
  });

  test('objects where tables were asked for are shown by name', async () => {
    await using hub = await hubWith(/^\/api\/v1\/namespaces\//, (response) =>
      reply(response, { kind: 'PodList', items: [{ metadata: { name: 'web-0' } }] }),
    );
    const terminal = fakeTerminal();
    assert.equal(await get(['pods'], { kubeconfig: hub.kubeconfig }, terminal), EXIT.fine);
    assert.equal(terminal.stdout, 'NAME    AGE\nweb-0   <unknown>\n');
  });
});
