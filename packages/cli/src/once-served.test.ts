import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Client } from '@asterism/client';
import { failure, isNotFound, type KubeObject, type ResourceType } from '@asterism/machinery';
import { hurriedClock } from './testing/hurried-clock.ts';
import { typeOnceServed } from './once-served.ts';

const widget: KubeObject = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'one' } };
const definition = (group: string, kind: string): KubeObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `widgets.${group}` },
  spec: { group, names: { kind } },
});
const type: ResourceType = {
  group: 'example.com',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  namespaced: true,
};

/** Serves Widgets from the given look on; a look that was not preceded by a refresh sees what the last one saw. */
function serverOf(servedAt: number): Pick<Client, 'discovery'> & { looks: number } {
  let isKnown = false;
  const server = {
    looks: 0,
    discovery: {
      refresh: () => void (isKnown = false),
      async typeFor() {
        if (!isKnown) server.looks += 1;
        isKnown = true;
        if (server.looks < servedAt) throw failure(404, 'no matches for kind');
        return type;
      },
    },
  };
  return server as unknown as ReturnType<typeof serverOf>;
}

describe('the type of an object that is applied', () => {
  test('is waited for where its definition was applied before it', async () => {
    const server = serverOf(5);
    assert.equal(await typeOnceServed(server, widget, [definition('example.com', 'Widget')], hurriedClock()), type);
    assert.equal(server.looks, 5);
  });

  test('is missed at once where none of what was applied defines it', async () => {
    const server = serverOf(2);
    const others = [definition('example.com', 'Gadget'), definition('example.org', 'Widget'), widget];
    await assert.rejects(typeOnceServed(server, widget, others, hurriedClock()), isNotFound);
    assert.equal(server.looks, 1);
  });

  test('is missed after 10 s where its definition never comes to be served', async () => {
    const server = serverOf(Number.POSITIVE_INFINITY);
    const clock = hurriedClock();
    const began = clock.wall().getTime();
    await assert.rejects(typeOnceServed(server, widget, [definition('example.com', 'Widget')], clock), isNotFound);
    assert.equal(clock.wall().getTime() - began, 10_000);
  });

  test('and a server that does not answer is not waited for', async () => {
    const server = { discovery: { typeFor: () => Promise.reject(failure(503, 'away')) } } as unknown as Client;
    await assert.rejects(typeOnceServed(server, widget, [definition('example.com', 'Widget')], hurriedClock()), /away/);
  });
});
