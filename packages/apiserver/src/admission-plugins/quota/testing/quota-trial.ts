import assert from 'node:assert/strict';
import type { KubeObject } from '@asterism/machinery';
import { startControllers } from '../../../compose/start-controllers.ts';
import { openTestRegistry, patch, TEST_USER, type TestRegistry } from '../../../compose/testing/test-registry.ts';
import type { Storage } from '../../../storage/storage.ts';

export const QUOTAS = 'v1/resourcequotas';
export const PODS = 'v1/pods';

export interface Amounts {
  hard?: Record<string, string>;
  used?: Record<string, string>;
}

export function pod(name: string, spec: object = {}, resources: object = {}): KubeObject {
  return { metadata: { name }, spec: { containers: [{ name: 'app', image: 'nginx:1.27', resources }], ...spec } };
}

export function configMap(name: string): KubeObject {
  return { metadata: { name }, data: { a: '1' } };
}

/** A quota whose use is known, as after the controller has counted. */
export async function bound(t: TestRegistry, hard: Record<string, string>, spec: object = {}): Promise<void> {
  await t.create(QUOTAS, { metadata: { name: 'q' }, spec: { hard, ...spec } });
  const used = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  await patch(t, QUOTAS, 'q', { status: { hard, used } }, 'merge', { subresource: 'status' });
}

export async function usedOf(t: TestRegistry, name = 'q'): Promise<Record<string, string> | undefined> {
  return ((await t.get(QUOTAS, name)).status as Amounts | undefined)?.used;
}

export interface Running extends TestRegistry {
  settled(): Promise<void>;
}

/** With the controllers of the server. */
export async function withControllers(options: { storage?: Storage; clock?: () => number } = {}): Promise<Running> {
  const t = await openTestRegistry(options);
  const stop = new AbortController();
  const errors: unknown[] = [];
  const onError = (_: string, error: unknown): number => errors.push(error);
  const { settled } = startControllers({
    registry: t.registry,
    user: TEST_USER,
    signal: stop.signal,
    ...options,
    onError,
  });
  const close = async (): Promise<void> => {
    stop.abort();
    await settled();
    await t.registry.close();
    assert.deepEqual(errors, []);
  };
  return { ...t, settled, [Symbol.asyncDispose]: close };
}
