import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGES = '{agent,apiserver,cli,client,fleet,hub,runtime,tunnel}';

/** Ways to gather in memory what comes piece by piece. */
const GATHERS = [
  /for await \(const \w+ of [^)]*as AsyncIterable<(Buffer|Uint8Array)>/,
  /for await \(const (chunk|piece|line)\b/,
  /\.(text|json|arrayBuffer|blob|bytes)\(\)/,
  /stream\/consumers/,
  /\.toArray\(\)/,
  /Array\.fromAsync\(/,
  /Buffer\.concat\(/,
  /\.(on|once|off)\('data'/,
  /maxBuffer/,
];

/** Files that may, and why none of them holds more of what others send than it bounds itself. */
const ALLOWED: Readonly<Record<string, string>> = {
  'client/src/read-body.ts': 'the bounded reader',
  'client/src/line-splitter.ts': 'the bounded reader of lines',
  'client/src/each-line.ts': 'hands pieces to the bounded reader of lines',
  'client/src/line-stream.ts': 'lines of the bounded reader',
  'client/src/http/http1-exchange.ts': 'what came in the turn of the head: one read of the socket',
  'client/src/http/http2-body.ts': 'bounded by the windows of HTTP/2',
  'client/src/json-scanner.ts': 'puts together bytes that are in memory',
  'client/src/kubeconfig/exec-credential.ts': 'bounded by READ_LIMITS.credential',
  'client/src/proxy/connect-through-proxy.ts': 'a head of at most 64 KiB',
  'client/src/spdy/header-block.ts': 'a header block of at most 64 KiB, counted after decompression',
  'client/src/spdy/header-dictionary.ts': 'a constant',
  'client/src/spdy/spdy-connection.ts': 'a window for each stream',
  'client/src/spdy/spdy-frames.ts': 'the rest of a frame head',
  'client/src/streams/open-command.ts': 'keeps 1 MiB of a status and drops the rest',
  'client/src/streams/open-port-forward.ts': 'keeps 64 KiB of an error and drops the rest',
  'client/src/websocket/websocket-connection.ts': 'passes pieces on',
  'client/src/websocket/websocket-frames.ts': 'the rest of a frame head',
  'apiserver/src/audit/keep-pieces.ts': 'keeps 10 MiB at most of its own answers',
  'apiserver/src/audit/audited-request.ts': 'its own bounded copies',
  'apiserver/src/http/answer/answer-list.ts': 'its own objects',
  'apiserver/src/http/answer/protobuf-representer.ts': 'its own objects',
  'apiserver/src/http/wire/read-request.ts': 'the bounded reader of requests: 3 MiB',
  'apiserver/src/http/wire/read-upgrade-answer.ts': 'a head of at most 64 KiB',
  'apiserver/src/http/wire/upgrade.ts': 'passes pieces on',
  'apiserver/src/http/answer/watch-body.ts': 'its own objects',
  'apiserver/src/pki/certificate-names.ts': 'encodes what it made',
  'apiserver/src/registry/watch-item.ts': 'its own objects',
  'cli/src/commands/get-watch.ts': 'lines of the bounded reader',
  'cli/src/commands/logs.ts': 'passes lines on to a terminal',
  'cli/src/log/line-writer.ts': 'keeps 1 MiB of its own lines and drops the rest',
  'cli/src/manifests.ts': 'files that the user names',
  'cli/src/output/escape-log.ts': 'passes pieces on to a terminal',
  'cli/src/reach/prefix-lines.ts': 'passes lines on to a terminal',
  'fleet/src/join/registration/der.ts': 'encodes what it made',
  'fleet/src/reach/proxy-upgrade.ts': 'counts pieces that pass',
  'fleet/src/reach/reach-extension.ts': 'its own answer',
  'fleet/src/reach/refused-impersonation.ts': 'looks at 16 KiB of a refusal and passes all of it on',
  'fleet/src/search/query/answer-list.ts': 'its own rows',
  'fleet/src/search/query/search-extension.ts': 'its own row',
  'fleet/src/search/sync/indexed-object.ts': 'puts together bytes that are in memory',
  'hub/src/backup-manifest.ts': 'hashes a file',
  'hub/src/replicas/shared-tunnels.ts': 'lines of the bounded reader',
  'runtime/src/memory/keep-young-small.ts': 'no reader: a figure of V8',
  'tunnel/src/agent/serve-frames.ts': 'what came with the head: one frame buffer',
  'tunnel/src/frames/frame.ts': 'one frame, whose length is bounded',
  'tunnel/src/frames/frame-body.ts': 'bounded by the window of the stream',
  'tunnel/src/frames/frame-session.ts': 'hands pieces to the reader of frames',
  'tunnel/src/frames/send-body.ts': 'passes pieces on',
  'tunnel/src/frames/write-buffer.ts': 'frames of its own',
  'tunnel/src/hub/send-frames.ts': 'what came with the head: one frame buffer',
  'tunnel/src/hub/upgrade-connection.ts': 'passes pieces on',
  'tunnel/src/wire/http-head.ts': 'a head, whose length is bounded',
  'tunnel/src/wire/upgrade-to-tunnel.ts': 'the first line of a refusal',
};

test('answers of others are gathered by the bounded reader alone', () => {
  const files = globSync(`packages/${PACKAGES}/src/**/*.ts`, { cwd: ROOT })
    .map((file) => file.replaceAll('\\', '/').replace(/^packages\//, ''))
    .filter((file) => !/\.test\.ts$|\/testing\/|\/generated\//.test(file));
  assert.ok(files.length > 500, 'the sources are found');
  const gathering = files.filter((file) => {
    const code = readFileSync(join(ROOT, 'packages', file), 'utf8').replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '');
    return GATHERS.some((pattern) => pattern.test(code));
  });
  const unknown = gathering.filter((file) => !Object.hasOwn(ALLOWED, file));
  assert.deepEqual(
    unknown,
    [],
    'use readBody, readStart or readLines of @asterism/client, or say here why this is bounded',
  );
  const stale = Object.keys(ALLOWED).filter((file) => !gathering.includes(file));
  assert.deepEqual(stale, [], 'these gather nothing any more');
});
