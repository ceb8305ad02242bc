/**
 * Loads `@peculiar/x509` at its first use: it costs about 25 MB and 0.1 s, which a server that signs nothing never pays.
 *
 * Its dependency `tsyringe` refuses to load without the metadata calls of `reflect-metadata`. The four that it makes are
 * given here where no polyfill brought them, so that the process carries no polyfill for the sake of a certificate.
 */
export async function loadX509(): Promise<typeof import('@peculiar/x509')> {
  if (!('getMetadata' in Reflect)) Object.assign(Reflect, createReflectMetadata());
  return await import('@peculiar/x509');
}

function createReflectMetadata() {
  const slots = new WeakMap<object, Map<unknown, unknown>>();
  const getOwnMetadata = (key: unknown, target: object): unknown => slots.get(target)?.get(key);
  return {
    getOwnMetadata,
    getMetadata(key: unknown, target: object): unknown {
      for (let at: object | null = target; at !== null; at = Object.getPrototypeOf(at) as object | null) {
        const found = getOwnMetadata(key, at);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    defineMetadata(key: unknown, value: unknown, target: object): void {
      const slot = slots.get(target) ?? new Map<unknown, unknown>();
      slots.set(target, slot.set(key, value));
    },
    hasOwnMetadata: (key: unknown, target: object): boolean => slots.get(target)?.has(key) ?? false,
  };
}
