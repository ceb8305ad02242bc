import type { Client } from '@asterism/client';
import { deepEqual, formatGroupResource, type KubeObject, objectKey, type ResourceType } from '@asterism/machinery';
import { type ClusterFailure, resolveClusters } from '../clusters-flag.ts';
import { describeError, EXIT } from '../exit-code.ts';
import { currentObject, inNamespace, readManifests } from '../manifests.ts';
import { typeOnceServed } from '../once-served.ts';
import type { Terminal } from '../output/terminal.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { reportFailures } from './get.ts';
import { oneLine } from '../output/one-line.ts';

export interface ApplyFlags extends SessionFlags {
  filename: string[];
  clusters?: string;
  forceConflicts?: boolean;
  dryRun?: 'none' | 'server';
}

/**
 * `aster apply -f`: server-side apply of each object, in the order of the files, to the hub or to each cluster of `-C`. An
 * object whose definition stands before it waits until it is served.
 */
export async function apply(flags: ApplyFlags, terminal: Terminal): Promise<number> {
  const objects = await readManifests(flags.filename);
  await using session = await openSession(flags, terminal);
  const targets =
    flags.clusters === undefined
      ? [{ label: '', client: session.hub }]
      : (await resolveClusters(flags.clusters, session.hub)).map((name) => ({
          label: `${name}: `,
          client: session.member(name),
        }));
  const failures: ClusterFailure[] = [];
  let count = 0;
  for (const { label, client } of targets) {
    const applied: KubeObject[] = [];
    for (const object of objects) {
      try {
        const type = await typeOnceServed(client, object, applied);
        terminal.out(
          oneLine(`${label}${await applyOne(client, type, inNamespace(object, type, session.namespace), flags)}`),
        );
        if (flags.dryRun !== 'server') applied.push(object);
        count += 1;
      } catch (error) {
        failures.push({ cluster: `${label}${object.kind ?? ''} ${objectKey(object)}`, error });
      }
    }
  }
  if (flags.clusters !== undefined) return reportFailures(failures, count, terminal);
  for (const { cluster, error } of failures) terminal.err(oneLine(`${cluster}: ${describeError(error)}`));
  return failures.length === 0 ? EXIT.fine : EXIT.error;
}

async function applyOne(client: Client, type: ResourceType, object: KubeObject, flags: ApplyFlags): Promise<string> {
  const before = await currentObject(client, type, object);
  const dryRun = flags.dryRun === 'server';
  const after = await client.resource(type).apply(object, {
    fieldManager: 'aster',
    fieldValidation: 'Strict',
    force: flags.forceConflicts === true,
    dryRun,
  });
  const singular = formatGroupResource({ group: type.group, resource: type.kind.toLowerCase() });
  const outcome = before === undefined ? 'created' : changed(before, after) ? 'configured' : 'unchanged';
  return `${singular}/${after.metadata?.name} ${outcome}${dryRun ? ' (server dry run)' : ''}`;
}

/** A dry run gives no new resourceVersion, and its managedFields always bear the time of now. */
function changed(before: KubeObject, after: KubeObject): boolean {
  const essence = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, managedFields: [], resourceVersion: '', generation: 0 },
  });
  return (
    before.metadata?.resourceVersion !== after.metadata?.resourceVersion || !deepEqual(essence(before), essence(after))
  );
}
