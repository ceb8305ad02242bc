import type { Client } from '@asterism/client';
import { isAlreadyExists, NAMESPACES } from '@asterism/machinery';
import { MADE_FOR_LABEL, MADE_FOR_TEMPLATES } from '../api/index.ts';

/**
 * Makes the Namespace in which policies and bindings of templates from another API server stand, unless it is there. Its label
 * says why it is there; it is never removed, because people may have put things of their own in it since.
 */
export async function ensureTemplateNamespace(hub: Client, name: string, signal?: AbortSignal): Promise<void> {
  const labels = { [MADE_FOR_LABEL]: MADE_FOR_TEMPLATES };
  try {
    await hub.resource(NAMESPACES).create({ metadata: { name, labels } }, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
