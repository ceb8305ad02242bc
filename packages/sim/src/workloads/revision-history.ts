import type { Client } from '@asterism/client';
import { CONTROLLER_REVISIONS, isAlreadyExists, isNotFound } from '@asterism/machinery';
import type { RevisionPlan } from './revision-plan.ts';

/** Carries out a plan of {@link planRevisions}. */
export async function writeRevisions(client: Client, { update, write, remove }: RevisionPlan): Promise<void> {
  const revisions = client.resource(CONTROLLER_REVISIONS);
  const { namespace, name = '' } = update.metadata ?? {};
  if (write === 'create') {
    await revisions.create(update).catch((error: unknown) => {
      if (!isAlreadyExists(error)) throw error;
    });
  }
  if (write === 'renumber') {
    const body = { metadata: { resourceVersion: update.metadata?.resourceVersion }, revision: update.revision };
    await revisions.patch({ namespace, name }, { type: 'merge', body });
  }
  for (const { metadata } of remove) {
    await revisions.delete({ namespace, name: metadata?.name ?? '' }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}
