import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Transport } from '@asterism/client';
import type { Cluster, Engagement } from '@asterism/runtime';
import type { ConnectionChange } from '../../reach/cluster-connections.ts';
import { createClusterProvider } from './cluster-provider.ts';

const transportNamed = (id: string): Transport => {
  const unused = (): never => assert.fail('nothing is called here');
  return Object.assign({ request: unused, upgrade: unused, close: unused, [Symbol.asyncDispose]: unused }, { id });
};

/** Connections that a test changes, and a manager that writes down what it is told. */
function setUp() {
  const log: string[] = [];
  const leaving: (() => void)[] = [];
  let listener: (change: ConnectionChange) => void = () => {};
  const idOf = (transport: Transport) => (transport as unknown as { id: string }).id;
  const engage = (name: string, client: { transport: Transport }): Engagement => {
    log.push(`engage ${name} ${idOf(client.transport)}`);
    return {
      cluster: {} as Cluster,
      replaceClient: (next) => log.push(`replace ${name} ${idOf(next.transport)}`),
      disengage: () => {
        log.push(`disengage ${name}`);
        return new Promise((resolve) => leaving.push(resolve));
      },
    };
  };
  const stop = new AbortController();
  const running = createClusterProvider({
    find: () => undefined,
    keyOf: () => Promise.resolve(undefined),
    follow: () => {},
    onChange: (each) => {
      listener = each;
      return () => log.push('unsubscribed');
    },
  }).run(engage as never, stop.signal);
  const available = (name: string, id: string) => listener({ name, state: 'available', transport: transportNamed(id) });
  const removed = (name: string) => listener({ name, state: 'removed', transport: undefined });
  const left = async (): Promise<void> => {
    leaving.shift()?.();
    await new Promise(setImmediate);
  };
  return { log, available, removed, left, stop, running };
}

describe('the cluster provider', () => {
  test('engages what can be reached, and gives it a new client when it is back', () => {
    const { log, available } = setUp();
    available('a', '1');
    available('b', '2');
    available('a', '3');
    assert.deepEqual(log, ['engage a 1', 'engage b 2', 'replace a 3']);
  });

  test('a cluster that comes back while it leaves is engaged once it has left', async () => {
    const { log, available, removed, left } = setUp();
    available('a', '1');
    removed('a');
    available('a', '2');
    available('a', '3');
    assert.deepEqual(log, ['engage a 1', 'disengage a']);
    await left();
    assert.deepEqual(log, ['engage a 1', 'disengage a', 'engage a 3']);
  });

  test('one that comes back and goes again stays away', async () => {
    const { log, available, removed, left } = setUp();
    available('a', '1');
    removed('a');
    available('a', '2');
    removed('a');
    await left();
    assert.deepEqual(log, ['engage a 1', 'disengage a']);
  });

  test('a cluster that was never reached leaves without a word', () => {
    const { log, removed } = setUp();
    removed('a');
    assert.deepEqual(log, []);
  });

  test('ends with its signal', async () => {
    const { log, stop, running } = setUp();
    stop.abort();
    await running;
    assert.deepEqual(log, ['unsubscribed']);
  });
});
