import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from './metrics.ts';
import { versionInfo } from './version-info.ts';

const BUILD = versionInfo('v1.36.2');
const labels = {
  verb: 'GET',
  group: 'apps',
  version: 'v1',
  resource: 'deployments',
  subresource: '',
  scope: 'resource',
};
const text =
  'component="apiserver",verb="GET",group="apps",version="v1",resource="deployments",subresource="",scope="resource"';

test('requests are counted by code, and their durations fall into buckets that add up', () => {
  const metrics = new Metrics();
  metrics.requestEnded(labels, 200, 0.001);
  metrics.requestEnded(labels, 200, 0.3);
  metrics.requestEnded(labels, 404, 100);
  metrics.requestEnded(labels, 200, undefined);
  const lines = metrics.write({}, BUILD).split('\n');
  for (const line of [
    `apiserver_request_total{${text},code="200"} 3`,
    `apiserver_request_total{${text},code="404"} 1`,
    `apiserver_request_duration_seconds_bucket{${text},le="0.005"} 1`,
    `apiserver_request_duration_seconds_bucket{${text},le="0.5"} 2`,
    `apiserver_request_duration_seconds_bucket{${text},le="60"} 2`,
    `apiserver_request_duration_seconds_bucket{${text},le="+Inf"} 3`,
    `apiserver_request_duration_seconds_count{${text}} 3`,
  ]) {
    assert.ok(lines.includes(line), line);
  }
});

test('what is open goes up and down, and labels are escaped', () => {
  const metrics = new Metrics();
  metrics.inFlight('readOnly', 1);
  metrics.inFlight('readOnly', 1);
  metrics.inFlight('readOnly', -1);
  metrics.longRunning({ ...labels, resource: 'a"b\\c\nd' }, 1);
  const written = metrics.write({ process_cpu_seconds_total: 1.5 }, BUILD);
  assert.match(written, /apiserver_current_inflight_requests\{request_kind="readOnly"\} 1\n/);
  assert.match(written, /resource="a\\"b\\\\c\\nd"/);
  assert.match(written, /# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total 1.5\n/);
});

test('verbs are those of HTTP, and the version is told', () => {
  const metrics = new Metrics();
  metrics.requestEnded({ ...labels, verb: 'CREATE' }, 201, 0.1);
  metrics.requestEnded({ ...labels, verb: 'UPDATE' }, 200, 0.1);
  metrics.requestEnded({ ...labels, verb: 'DELETECOLLECTION' }, 200, 0.1);
  const written = metrics.write({}, BUILD);
  for (const verb of ['POST', 'PUT', 'DELETECOLLECTION']) assert.ok(written.includes(`verb="${verb}"`), verb);
  assert.match(written, /^kubernetes_build_info\{major="1",minor="36",git_version="v1.36.2",.*\} 1$/m);
});
