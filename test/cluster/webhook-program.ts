import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/*
 * A webhook in a process of its own, which answers by path well or badly. Its certificate and key are the environment variables
 * CERT and KEY; it tells its port on the first line of its output, ends with its input, and answers GET /asked with what it was asked.
 */

interface Review {
  apiVersion: string;
  request: { uid: string; [field: string]: unknown };
}

type Answer = (review: Review, response: ServerResponse) => object | undefined;

const asked: { path: string; review: Review }[] = [];

const patchOf = (...operations: object[]): object => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

const raw =
  (status: number, body: string, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    return undefined;
  };

const denied = (status: object): Answer => {
  return () => ({ allowed: false, status });
};

/** Adds a container to what runs pods, where it is not there yet, as an injector does. */
const injectSidecar: Answer = ({ request }) => {
  const { spec } = request['object'] as { spec: { template: { spec: { containers: { name: string }[] } } } };
  if (spec.template.spec.containers.some(({ name }) => name === 'sidecar')) return { allowed: true };
  const value = { name: 'sidecar', image: 'registry.example/sidecar:1' };
  return patchOf({ op: 'add', path: '/spec/template/spec/containers/-', value });
};

const ANSWERS: Readonly<Record<string, Answer>> = {
  '/allow': () => ({ allowed: true }),
  '/label': () => patchOf({ op: 'add', path: '/metadata/labels/mutated', value: 'yes' }),
  '/sidecar': injectSidecar,
  '/data': () => patchOf({ op: 'add', path: '/data', value: { added: 'by a webhook' } }),
  '/deny': denied({ message: 'not today' }),
  '/deny-silently': () => ({ allowed: false }),
  '/deny-reason': denied({ reason: 'Teapot' }),
  '/deny-code': denied({ message: 'too much', code: 429, reason: 'TooManyRequests' }),
  '/deny-200': denied({ message: 'fine', code: 200, status: 'Success' }),
  '/deny-500': denied({ message: 'broken', code: 500 }),
  '/deny-details': denied({
    message: 'see',
    details: { name: 'n', kind: 'k', causes: [{ message: 'c', field: 'f' }] },
  }),
  '/warn': () => ({ allowed: true, warnings: ['mind the gap', 'x'.repeat(5000)] }),
  '/hang': () => undefined,
  '/html': raw(200, '<html><body>Hello</body></html>', { 'content-type': 'text/html' }),
  '/garbage': raw(200, '{"kind": '),
  '/array': raw(200, '[]'),
  '/empty-object': raw(200, '{}'),
  '/not-a-review': raw(200, '{"kind":"Pod","apiVersion":"v1"}'),
  '/status-500': raw(500, 'it broke'),
  '/status-404': raw(404, 'nothing here'),
  '/status-403': raw(403, 'no'),
  '/redirect': raw(302, '', { location: '/allow' }),
  '/endless': (_, response) => {
    const piece = Buffer.alloc(64 * 1024, ' ');
    const more = (): void => {
      while (response.write(piece));
    };
    response.writeHead(200).on('drain', more);
    more();
    return undefined;
  },
  '/close': (_, response) => void response.destroy(),
  '/wrong-uid': () => ({ allowed: true, uid: 'another' }),
  '/bad-base64': () => ({ allowed: true, patchType: 'JSONPatch', patch: '*' }),
  '/no-patch-type': () => ({ ...patchOf({ op: 'add', path: '/data', value: {} }), patchType: undefined }),
  '/other-patch-type': () => ({ ...patchOf({ op: 'add', path: '/data', value: {} }), patchType: 'MergePatch' }),
  '/no-patch': () => ({ allowed: true, patchType: 'JSONPatch' }),
  '/patch-no-json': () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('hello').toString('base64') }),
  '/patch-object': () => ({ allowed: true, patchType: 'JSONPatch', patch: Buffer.from('{}').toString('base64') }),
  '/patch-replace-missing': () => patchOf({ op: 'replace', path: '/metadata/annotations/nope', value: 'x' }),
  '/patch-remove-missing': () => patchOf({ op: 'remove', path: '/metadata/labels/nope' }),
  '/patch-add-below-missing': () => patchOf({ op: 'add', path: '/nope/deep/er', value: 1 }),
  '/patch-test': () => patchOf({ op: 'test', path: '/metadata/name', value: 'other' }),
  '/patch-copy-missing': () => patchOf({ op: 'copy', from: '/nope/x', path: '/data' }),
  '/patch-unknown-op': () => patchOf({ op: 'jump', path: '/data' }),
  '/patch-kind': () => patchOf({ op: 'replace', path: '/kind', value: 'Secret' }),
  '/patch-type-of-field': () => patchOf({ op: 'add', path: '/data', value: ['a list'] }),
  '/patch-unknown-field': () => patchOf({ op: 'add', path: '/surprise', value: 1 }),
  '/patch-invalid': () => patchOf({ op: 'add', path: '/metadata/labels/mutated', value: 'no label value!' }),
  '/patch-namespace': () => patchOf({ op: 'replace', path: '/metadata/namespace', value: 'kube-system' }),
  '/patch-name': () => patchOf({ op: 'replace', path: '/metadata/name', value: 'renamed' }),
  '/patch-nothing': () => patchOf(),
};

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = (request.url ?? '').split('?')[0] ?? '';
  if (path === '/asked') {
    response.end(JSON.stringify(asked.splice(0)));
    return;
  }
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  const review = JSON.parse(Buffer.concat(pieces).toString()) as Review;
  asked.push({ path, review });
  const answer = ANSWERS[path]?.(review, response);
  if (answer === undefined) return;
  const { apiVersion } = review;
  const body = { apiVersion, kind: 'AdmissionReview', response: { uid: review.request.uid, ...answer } };
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const server = createServer({ cert: process.env['CERT'], key: process.env['KEY'] }, (request, response) => {
  handle(request, response).catch(() => response.destroy());
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
