import type { Container } from '@asterism/machinery';

/** A container that asks for so much. Its limits are for nobody to count. */
export const container = (requests: Record<string, string>, restartPolicy?: string): Container => ({
  name: 'c',
  image: 'i',
  resources: { requests, limits: { cpu: '64' } },
  ...(restartPolicy ? { restartPolicy } : {}),
});
