import { type Client, READ_LIMITS, readBody } from '@asterism/client';
import { type Finding, fault, fine, remark } from '../finding.ts';

/** A log of this size means that it cannot begin again: something reads an old state of the database. */
const LARGE_LOG_BYTES = 64 * 1024 * 1024;
const NAMED = 20;

/** Whether the hub is ready, whether it can write, and whether what it stored can be read. */
export async function examineStorage(hub: Client, signal: AbortSignal | undefined): Promise<Finding[]> {
  const { status, text } = await ask(hub, '/readyz?verbose', signal);
  if (status === 403) return [remark('store', 'you may not ask the hub whether it is ready')];
  // A kube-apiserver has no such check, and its metrics are large.
  const isOurs = /^\[[+-]\]storage /m.test(text);
  const metrics = isOurs ? await ask(hub, '/metrics', signal) : undefined;
  const failing = [...text.matchAll(/^\[-\](\S+)/gm)].map((match) => match[1] ?? '');
  return [...readiness(status, failing, metrics?.text ?? ''), ...damage(metrics), ...logSize(metrics?.text ?? '')];
}

function readiness(status: number, failing: readonly string[], metrics: string): Finding[] {
  if (status === 200) return [fine('store', 'the hub says that it is ready')];
  const found: Finding[] = [];
  if (failing.includes('storage')) {
    const free = valueOf(metrics, 'apiserver_storage_free_bytes');
    const left = free === undefined ? '' : ` (${Math.floor(free / 1024)} KiB are left)`;
    found.push(
      fault(
        'disk',
        `the hub's disk is full${left}: it refuses all writes but deletions and Leases`,
        'free space on the file system of its data directory; the hub notices within seconds',
      ),
    );
  }
  const others = failing.filter((name) => name !== 'storage');
  if (found.length > 0 && others.length === 0) return found;
  const which = others.length > 0 ? `: failing are ${others.join(', ')}` : '';
  const message = `the hub is not ready (${status})${which}`;
  return [...found, fault('store', message, "see the hub's log, and the disk or etcd behind it")];
}

function damage(metrics: Answer | undefined): Finding[] {
  if (metrics === undefined) return [];
  if (metrics.status !== 200) {
    return [remark('stored objects', 'you may not read the metrics of the hub, which name damaged objects')];
  }
  const count = valueOf(metrics.text, 'apiserver_storage_damaged_objects') ?? 0;
  if (count === 0) return [fine('stored objects', 'all of them can be read')];
  const lines = metrics.text.matchAll(/^apiserver_storage_damaged_object\{(.*)\} 1$/gm);
  const names = [...lines].slice(0, NAMED).map((match) => formatLabels(match[1] ?? ''));
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return [
    fault(
      'stored objects',
      `the stored copy of ${names.join(', ')}${more} is damaged, and is not served`,
      'restore a backup (aster restore), or delete each and create it again: any request for one answers with the command that deletes it',
    ),
  ];
}

function logSize(metrics: string): Finding[] {
  const bytes = valueOf(metrics, 'apiserver_storage_log_bytes') ?? 0;
  if (bytes < LARGE_LOG_BYTES) return [];
  return [
    remark(
      'write-ahead log',
      `the write-ahead log of the hub's database has ${Math.floor(bytes / 1024 / 1024)} MiB`,
      'end programs that keep the database open (a backup, sqlite3): the log is cut when nothing reads its beginning',
    ),
  ];
}

interface Answer {
  status: number;
  text: string;
}

async function ask(hub: Client, path: string, signal: AbortSignal | undefined): Promise<Answer> {
  const { status, body } = await hub.request({ method: 'GET', path, signal });
  return { status, text: (await readBody(body, 'the hub', { signal, limits: READ_LIMITS.text })).toString() };
}

function valueOf(metrics: string, name: string): number | undefined {
  const line = metrics.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.slice(name.length + 1));
}

/** `resource="secrets",namespace="default",name="victim"` as `secrets "victim" in namespace "default"`. */
function formatLabels(labels: string): string {
  const [, resource = '', namespace = '', name = ''] =
    /^resource="([^"]*)",namespace="([^"]*)",name="([^"]*)"$/.exec(labels) ?? [];
  return `${resource} "${name}"${namespace === '' ? '' : ` in namespace "${namespace}"`}`;
}
