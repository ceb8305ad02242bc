import { type Client, readBody } from '@asterism/client';

/** Requests of one kind that an API server has answered. */
export interface RequestCount {
  verb: string;
  /** With group and subresource: `works.asterism.dev/status`. */
  resource: string;
  code: number;
  count: number;
}

/** As kube-apiserver's metrics name them: `POST` is a create and `PUT` an update. */
const WRITES = new Set(['POST', 'PUT', 'APPLY', 'PATCH', 'DELETE', 'DELETECOLLECTION']);
/** What agents write by the clock, whether anything is placed or not. */
const HEARTBEATS = new Set(['leases.coordination.k8s.io', 'clusters.asterism.dev/status']);
/** Answered without a write to the store. */
const NOT_STORED = /^(token|subjectaccess|selfsubjectaccess|selfsubjectrules|selfsubject|localsubjectaccess)reviews\./;

/** What an API server has answered so far, as it counts. */
export async function readRequestCounts(server: Client): Promise<RequestCount[]> {
  const { body } = await server.request({ method: 'GET', path: '/metrics' });
  return parseRequestCounts((await readBody(body, 'its metrics')).toString());
}

/** Reads `apiserver_request_total` from Prometheus' text format. */
export function parseRequestCounts(text: string): RequestCount[] {
  return [...text.matchAll(/^apiserver_request_total\{(.*)\} (\d+)$/gm)].map(([, labels = '', count]) => {
    const values = new Map([...labels.matchAll(/(\w+)="([^"]*)",?/gy)].map(([, name, value = '']) => [name, value]));
    const label = (name: string): string => values.get(name) ?? '';
    const group = label('group') === '' ? '' : `.${label('group')}`;
    const subresource = label('subresource') === '' ? '' : `/${label('subresource')}`;
    return {
      verb: label('verb') || 'other',
      resource: `${label('resource') || 'other paths'}${group}${subresource}`,
      code: Number(label('code')),
      count: Number(count),
    };
  });
}

/** What was added from `before` to `after`; nothing with 0. */
export function subtractCounts(after: readonly RequestCount[], before: readonly RequestCount[]): RequestCount[] {
  const key = ({ verb, resource, code }: RequestCount): string => `${verb} ${resource} ${code}`;
  const known = new Map<string, number>();
  for (const count of before) known.set(key(count), (known.get(key(count)) ?? 0) + count.count);
  const added = new Map<string, RequestCount>();
  for (const count of after) {
    const sum = (added.get(key(count))?.count ?? -(known.get(key(count)) ?? 0)) + count.count;
    added.set(key(count), { ...count, count: sum });
  }
  return [...added.values()].filter(({ count }) => count > 0);
}

/** Writes to the store that were taken, heartbeats left out. */
export function storedWrites(counts: readonly RequestCount[]): RequestCount[] {
  return counts.filter(
    ({ verb, resource, code }) =>
      WRITES.has(verb) && code < 300 && code >= 200 && !HEARTBEATS.has(resource) && !NOT_STORED.test(resource),
  );
}

/** Writes that were refused with 409, heartbeats included. */
export function conflicts(counts: readonly RequestCount[]): RequestCount[] {
  return counts.filter(({ verb, code }) => WRITES.has(verb) && code === 409);
}

export function sumCounts(counts: readonly RequestCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}
