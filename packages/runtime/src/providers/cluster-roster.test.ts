import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { type Client, ClientError, type Connection } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import type { Cluster, Engagement } from '../cluster/cluster.ts';
import { ClusterRoster, type Offer } from './cluster-roster.ts';
import { RecordedLog } from './testing/provider-trial.ts';

const to = (server: string, token = 't'): Connection => ({
  server: `http://${server}.test`,
  credential: { kind: 'token', token },
});

let log: RecordedLog;
let roster: ClusterRoster;
let stop: AbortController;
/** What the manager was asked for, in order. */
let asked: string[];

beforeEach(() => {
  asked = [];
  log = new RecordedLog();
  stop = new AbortController();
  const engage = (name: string, client: Client): Engagement => {
    asked.push(`engage ${name} ${client.transport.server}`);
    return {
      cluster: { signal: new AbortController().signal } as Cluster,
      replaceClient: () => asked.push(`renew ${name}`),
      async disengage() {
        asked.push(`disengage ${name}`);
      },
    };
  };
  roster = new ClusterRoster({ name: 'test', logger: log.logger, clock: new ManualClock() }, engage, stop.signal);
});

const offer = (source: string, name: string, connection: Connection): Promise<boolean> =>
  roster.update(source, async () => ({ name, connection }));
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('ClusterRoster', () => {
  test('a reading that began earlier and ends later counts for nothing', async () => {
    const slow = Promise.withResolvers<Offer>();
    const reading = roster.update('s', () => slow.promise);
    await offer('s', 'a', to('new'));
    slow.resolve({ name: 'a', connection: to('old') });
    await reading;
    assert.deepEqual(asked, ['engage a http://new.test']);
  });

  test('a reading of a source that has gone counts for nothing, nor does its failure', async () => {
    const [slow, bad] = [Promise.withResolvers<Offer>(), Promise.withResolvers<Offer>()];
    const readings = [roster.update('s', () => slow.promise), roster.update('t', () => bad.promise)];
    await roster.turn(); // Both are being read.
    roster.withdraw('s');
    roster.withdraw('t');
    slow.resolve({ name: 'a', connection: to('a') });
    bad.reject(new ClientError('broken', { code: 'ERR_KUBECONFIG' }));
    await Promise.all(readings);
    assert.deepEqual([asked, log.lines], [[], []]);
  });

  test('a source that hangs holds up no other', async () => {
    void roster.update('s', () => new Promise(() => {}));
    await offer('t', 'b', to('b'));
    assert.deepEqual(asked, ['engage b http://b.test']);
  });

  test('what is the same is left alone, what is new is renewed, another address is engaged anew', async () => {
    for (const connection of [to('a'), to('a'), to('a', 'u'), to('b', 'u')]) await offer('s', 'a', connection);
    await turn();
    assert.deepEqual(asked, ['engage a http://a.test', 'renew a', 'disengage a', 'engage a http://b.test']);
  });

  test('a source that gives its cluster another name', async () => {
    await offer('s', 'a', to('a'));
    await offer('s', 'b', to('a'));
    assert.deepEqual(asked, ['engage a http://a.test', 'disengage a', 'engage b http://a.test']);
  });

  test('without a name there is no cluster', async () => {
    await offer('s', '', to('a'));
    assert.match(log.lines[0] ?? '', /^warn s cannot be used: it gives the cluster no name /);
    assert.deepEqual(asked, []);
  });

  test('a problem is reported once, again when it is another, and when it is over', async () => {
    const fail = (message: string): Promise<boolean> =>
      roster.update('s', () => Promise.reject(new ClientError(message, { code: 'ERR_KUBECONFIG' })));
    await fail('one');
    await fail('one');
    await fail('two');
    await offer('s', 'a', to('a'));
    await fail('two');
    roster.lose('s', new ClientError('gone', { code: 'ENOENT' }));
    await turn();
    const messages = log.lines.map((line) => line.slice(0, line.indexOf(' {')));
    assert.deepEqual(messages, [
      'warn s cannot be used: one',
      'warn s cannot be used: two',
      'info s can be used now',
      'warn s cannot be used: two; cluster "a" stays as it was',
      'warn s cannot be used: gone',
    ]);
    assert.deepEqual(asked, ['engage a http://a.test', 'disengage a']);
  });

  test('what an error of unknown origin says is not told, as it may quote anything', async () => {
    await roster.update('s', () => Promise.reject(new TypeError('sesame is not a function')));
    assert.match(log.lines[0] ?? '', /^warn s cannot be used: TypeError /);
  });

  test('when the manager stops nothing is engaged or ended any more', async () => {
    await offer('s', 'a', to('a'));
    stop.abort();
    roster.withdraw('s');
    await offer('t', 'b', to('b'));
    roster.fail('u', new Error('late'));
    assert.deepEqual([asked, log.lines], [['engage a http://a.test'], []]);
  });
});
