import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import type { Client } from '@asterism/client';
import { examineStorage } from './examine-storage.ts';

const OK = '[+]ping ok\n[+]storage ok\nreadyz check passed\n';

interface Row {
  readyz: readonly [number, string];
  metrics?: readonly [number, string];
  says: readonly RegExp[];
}

const METRICS = 'apiserver_storage_damaged_objects 0\napiserver_storage_log_bytes 4096\n';
const DAMAGED = `apiserver_storage_damaged_objects 22
apiserver_storage_damaged_object{resource="secrets",namespace="default",name="victim"} 1
apiserver_storage_damaged_object{resource="nodes",namespace="",name="n"} 1
`;
const FULL = '[-]storage failed: reason withheld\nreadyz check failed\n';

const rows: Record<string, Row> = {
  'all is well': { readyz: [200, OK], metrics: [200, METRICS], says: [/^Fine store: /, /^Fine stored objects: all/] },
  'damaged objects are named, and the others counted': {
    readyz: [200, OK],
    metrics: [200, DAMAGED],
    says: [
      /^Fine/,
      /^Fault stored objects: .* secrets "victim" in namespace "default", nodes "n" and 20 more is damaged/,
    ],
  },
  'the disk is full': {
    readyz: [500, FULL],
    metrics: [200, `apiserver_storage_free_bytes 2048\n${METRICS}`],
    says: [/^Fault disk: the hub's disk is full \(2 KiB are left\).* -> free space/, /^Fine stored objects/],
  },
  'the disk is full, and something else fails': {
    readyz: [500, `[-]informer-sync failed: reason withheld\n${FULL}`],
    metrics: [200, METRICS],
    says: [/^Fault disk/, /^Fault store: .*failing are informer-sync ->/, /^Fine stored objects/],
  },
  'a large log': {
    readyz: [200, OK],
    metrics: [200, 'apiserver_storage_log_bytes 104857600\n'],
    says: [/^Fine/, /^Fine/, /^Remark write-ahead log: .* has 100 MiB -> end programs/],
  },
  'metrics may not be read': {
    readyz: [200, OK],
    metrics: [403, ''],
    says: [/^Fine/, /^Remark stored objects: you may not/],
  },
  'readiness may not be asked': { readyz: [403, ''], says: [/^Remark store: you may not/] },
  'a kube-apiserver is not asked for its metrics': { readyz: [200, '[+]ping ok\n'], says: [/^Fine store/] },
};

for (const [name, { readyz, metrics, says }] of Object.entries(rows)) {
  test(name, async () => {
    const hub = {
      request: async ({ path }: { path: string }) => {
        const answer = path.startsWith('/readyz') ? readyz : metrics;
        assert.ok(answer, `${path} was asked for`);
        return { status: answer[0], headers: {}, body: Readable.from([Buffer.from(answer[1])]) };
      },
    } as unknown as Client;
    const found = await examineStorage(hub, undefined);
    const told = found.map(({ state, check, message, remedy = '' }) => `${state} ${check}: ${message} -> ${remedy}`);
    assert.equal(told.length, says.length, told.join('\n'));
    for (const [at, pattern] of says.entries()) assert.match(told[at] ?? '', pattern);
  });
}
