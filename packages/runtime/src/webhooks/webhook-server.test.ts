import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { ManualClock } from '@asterism/client/testing';
import { CONFIG_MAPS } from '@asterism/machinery';
import { createMetrics } from '../metrics/create-metrics.ts';
import { sampled, samplesOf } from '../testing/metric-samples.ts';
import type { AdmissionRequest } from './admission-request.ts';
import { deny } from './denial.ts';
import { admissionReview } from './testing/admission-review.ts';
import { FIRST_PAIR } from './testing/serving-pairs.ts';
import { type Sent, sendTo, WebhookTrial } from './testing/webhook-trial.ts';
import { createValidatingWebhook } from './validating-webhook.ts';
import { createWebhookServer } from './webhook-server.ts';

const PATH = '/validate--v1-configmap';
const validating = (validate: Parameters<typeof createValidatingWebhook>[0]['validate']) =>
  createValidatingWebhook({ type: CONFIG_MAPS, validate });
const allowing = validating(() => undefined);

/** A webhook that answers when it is told to. */
function waiting() {
  const asked = Promise.withResolvers<AdmissionRequest>();
  const go = Promise.withResolvers<undefined>();
  const webhook = validating(async (request) => {
    asked.resolve(request);
    return go.promise;
  });
  return { webhook, asked: asked.promise, go: () => go.resolve(undefined) };
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  signal.aborted ? Promise.resolve() : once(signal, 'abort').then(() => undefined);

test('answers reviews by their paths, whatever the query', async () => {
  const denying = createValidatingWebhook({ path: '/deny', validate: () => deny('no') });
  await using trial = await WebhookTrial.start({ webhooks: [allowing, denying] });
  const allowed = await trial.post(`${PATH}?timeout=10s`, admissionReview());
  assert.deepEqual([allowed.status, allowed.headers['content-type']], [200, 'application/json']);
  assert.deepEqual(allowed.body, {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'u1', allowed: true },
  });
  const denied = await trial.post('/deny', admissionReview());
  assert.equal((denied.body['response'] as { allowed: boolean }).allowed, false);
});

test('keeps connections for longer than API servers do', async () => {
  await using trial = await WebhookTrial.start({ webhooks: [allowing] });
  const [first, second] = [
    await trial.post(PATH, admissionReview(), { agent: trial.kept }),
    await trial.post(PATH, admissionReview(), { agent: trial.kept }),
  ];
  assert.equal(first.socket, second.socket);
  assert.equal(first.headers['keep-alive'], 'timeout=120');
});

test('two webhooks at one path, and what is no path', () => {
  const files = { certFile: 'tls.crt', keyFile: 'tls.key' };
  assert.throws(() => createWebhookServer({ ...files, webhooks: [allowing, allowing] }), /two webhooks have the path/);
  for (const path of ['', 'deny', '/deny?a=b']) {
    assert.throws(() => createWebhookServer({ ...files, webhooks: [{ ...allowing, path }] }), /is no path/);
  }
});

describe('nonsense gets a Status that says what is wrong', () => {
  const big = 'x'.repeat(2_000);
  const typed = (type: string): Sent => ({ headers: { 'content-type': type } });
  const CASES: readonly [what: string, path: string, sent: Sent, code: number, reason: string, message: RegExp][] = [
    ['another path', '/other', {}, 404, 'NotFound', /no webhook at this path/],
    ['a name of Object.prototype', '/constructor', {}, 404, 'NotFound', /no webhook at this path/],
    ['no URL', 'http://[', {}, 404, 'NotFound', /no webhook at this path/],
    ['another method', PATH, { method: 'GET' }, 405, 'MethodNotAllowed', /POST alone/],
    ['another type', PATH, typed('text/yaml'), 415, 'UnsupportedMediaType', /not "text\/yaml"/],
    ['a type like it', PATH, typed('application/jsonp'), 415, 'UnsupportedMediaType', /application\/json, not/],
    ['compressed', PATH, { headers: { 'content-encoding': 'gzip' } }, 415, 'UnsupportedMediaType', /not compressed/],
    ['nothing', PATH, {}, 400, 'BadRequest', /no JSON: unexpected end of JSON input/],
    ['half a review', PATH, { body: '{"kind": ' }, 400, 'BadRequest', /no JSON: unexpected end of JSON input/],
    ['HTML', PATH, { body: '<html>' }, 400, 'BadRequest', /no JSON: invalid character '<'/],
    ['another kind', PATH, { body: '{"kind":"Pod","apiVersion":"v1"}' }, 400, 'BadRequest', /got "Pod" of "v1"/],
    [
      'too much',
      PATH,
      { body: big, headers: { 'content-length': '2000' } },
      413,
      'RequestEntityTooLarge',
      /than 1000 bytes/,
    ],
    [
      'too much, piece by piece',
      PATH,
      { body: big, headers: { 'transfer-encoding': 'chunked' } },
      413,
      'RequestEntityTooLarge',
      /than 1000 bytes/,
    ],
  ];
  for (const [what, path, sent, code, reason, message] of CASES) {
    test(what, async () => {
      const webhooks = [validating(() => assert.fail('it was asked'))];
      await using trial = await WebhookTrial.start({ webhooks, maxBodyBytes: 1_000 });
      const answer = await trial.send(path, { agent: trial.kept, ...sent });
      assert.deepEqual([answer.status, answer.body['kind'], answer.body['reason']], [code, 'Status', reason]);
      assert.match(String(answer.body['message']), message);
      // The connection is still good.
      assert.equal((await trial.send('/other', { agent: trial.kept })).status, 404);
    });
  }

  test('a type with a parameter is none', async () => {
    await using trial = await WebhookTrial.start({ webhooks: [allowing] });
    const sent = typed('application/json; charset=utf-8');
    assert.equal((await trial.post(PATH, admissionReview(), sent)).status, 200);
  });

  test('plain HTTP gets no answer', async () => {
    await using trial = await WebhookTrial.start({ webhooks: [allowing] });
    const { hostname, port } = new URL(trial.server.url ?? '');
    await assert.rejects(once(httpRequest({ hostname, port, method: 'POST', path: PATH }).end(), 'response'));
    assert.equal((await trial.post(PATH, admissionReview())).status, 200);
  });
});

test('what a handler throws is logged, and told nobody', async () => {
  const failing = validating(() => {
    throw new TypeError('the password is wrong');
  });
  await using trial = await WebhookTrial.start({ webhooks: [failing] });
  const { status, body } = await trial.post(PATH, admissionReview());
  assert.deepEqual([status, body['reason']], [500, 'InternalError']);
  assert.equal(body['message'], 'the webhook failed; its log says why, with uid u1');
  const line = await trial.log.line(/^error a webhook failed/);
  for (const field of [`"webhook":"${PATH}"`, '"uid":"u1"', '"operation":"CREATE"', '"namespace":"n"', '"name":"a"']) {
    assert.ok(line.includes(field), `${field} in ${line}`);
  }
});

describe('time', () => {
  const WAITS: [query: string, ms: number][] = [
    ['?timeout=3s', 3_000],
    ['?timeout=1m', 30_000],
    ['?timeout=nonsense', 10_000],
    ['?timeout=-1s', 10_000],
    ['', 10_000],
  ];
  for (const [query, ms] of WAITS) {
    test(`a webhook has ${ms} ms where it is asked with "${query}"`, async () => {
      const clock = new ManualClock();
      const { webhook, asked } = waiting();
      await using trial = await WebhookTrial.start({ webhooks: [webhook], clock });
      const answer = trial.post(`${PATH}${query}`, admissionReview());
      const { signal } = await asked;
      clock.advance(ms - 1);
      assert.ok(!signal.aborted);
      clock.advance(1);
      const { status, body } = await answer;
      assert.deepEqual([status, body['reason']], [504, 'Timeout']);
      assert.equal(body['message'], `there was no answer within ${ms / 1000} s`);
      assert.ok(signal.aborted);
    });
  }

  test('a body that does not come has no more', async () => {
    const clock = new ManualClock();
    await using trial = await WebhookTrial.start({ webhooks: [allowing], clock });
    const headers = { 'content-type': 'application/json', 'content-length': '100' };
    const sent = { method: 'POST', path: PATH, ca: FIRST_PAIR.cert, agent: false, headers };
    const request = httpsRequest(trial.server.url ?? '', sent);
    request.on('error', () => {});
    const response = once(request, 'response');
    request.write('{');
    await clock.timer((ms) => ms === 10_000);
    clock.advance(10_000);
    assert.equal((await response)[0].statusCode, 504);
    request.destroy();
  });

  test('a handler hears that nobody waits any more', async () => {
    const { webhook, asked } = waiting();
    await using trial = await WebhookTrial.start({ webhooks: [webhook] });
    const gone = new AbortController();
    const answer = trial.post(PATH, admissionReview(), { signal: gone.signal });
    const { signal } = await asked;
    gone.abort();
    await assert.rejects(answer);
    await aborted(signal);
  });
});

describe('the end', () => {
  test('takes nothing new, and answers what was asked', async () => {
    const { webhook, asked, go } = waiting();
    await using trial = await WebhookTrial.start({ webhooks: [webhook] });
    const { url = '' } = trial.server;
    await trial.send('/other', { agent: trial.kept });
    const answer = trial.post(PATH, admissionReview());
    const { signal } = await asked;
    const stopped = trial.server.stop();
    assert.equal(trial.server.url, undefined);
    await assert.rejects(sendTo(url, PATH), { code: 'ECONNREFUSED' });
    assert.ok(!signal.aborted);
    go();
    const { status, headers } = await answer;
    assert.deepEqual([status, headers.connection], [200, 'close']);
    await stopped;
  });

  test('waits so long, and no longer', async () => {
    const clock = new ManualClock();
    const { webhook, asked } = waiting();
    await using trial = await WebhookTrial.start({ webhooks: [webhook], clock, drainMs: 700 });
    const cut = assert.rejects(trial.post(PATH, admissionReview()));
    const { signal } = await asked;
    const stopped = trial.server.stop();
    clock.advance(699);
    assert.deepEqual(
      await Promise.race([stopped, new Promise((resolve) => setImmediate(resolve, 'not yet'))]),
      'not yet',
    );
    assert.ok(!signal.aborted);
    clock.advance(1);
    await stopped;
    assert.ok(signal.aborted);
    await cut;
  });

  test('is not held up by connections that nothing came over', async () => {
    const clock = new ManualClock();
    await using trial = await WebhookTrial.start({ webhooks: [allowing], clock });
    const { hostname: host, port } = new URL(trial.server.url ?? '');
    const silent = connect(Number(port), host);
    const unused = connectTls({ host, port: Number(port), ca: FIRST_PAIR.cert });
    await Promise.all([once(silent, 'connect'), once(unused, 'secureConnect')]);
    const ended = Promise.all([once(silent, 'close'), once(unused, 'close')]);
    for (const socket of [silent, unused]) socket.on('error', () => {}).resume();
    await trial.server.stop();
    await ended;
  });
});

test('metrics tell of reviews by path, of mistakes, and of certificates', async () => {
  const metrics = createMetrics({ process: false });
  const failing = createValidatingWebhook({
    path: '/fail',
    validate: () => {
      throw new TypeError('boom');
    },
  });
  const { webhook, asked, go } = waiting();
  await using trial = await WebhookTrial.start({ webhooks: [failing, webhook], metrics });
  const answer = trial.post(PATH, admissionReview());
  await asked;
  const inFlight = `controller_runtime_webhook_requests_in_flight{webhook="${PATH}"}`;
  assert.equal((await samplesOf(metrics)).get(inFlight), 1);
  go();
  await answer;
  await trial.post('/fail', admissionReview());
  await trial.send('/fail', { body: '{' });
  await trial.send('/other');
  const samples = await samplesOf(metrics);
  const requests = 'controller_runtime_webhook_requests_total';
  assert.deepEqual(
    [...samples].filter(([name]) => name.startsWith(requests)),
    [
      [`${requests}{webhook="${PATH}",code="200"}`, 1],
      [`${requests}{webhook="/fail",code="500"}`, 1],
      [`${requests}{webhook="/fail",code="400"}`, 1],
    ],
  );
  assert.equal(samples.get(inFlight), 0);
  assert.equal(samples.get('controller_runtime_webhook_panics_total'), 1);
  assert.equal(samples.get('controller_runtime_webhook_latency_seconds_count{webhook="/fail"}'), 2);
  await trial.folder.put({ key: 'nonsense' });
  await sampled(metrics, 'certwatcher_read_certificate_errors_total', 1);
});
