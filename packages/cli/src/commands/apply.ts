import type { Client } from '@asterism/client';
import { deepEqual, formatGroupResource, type KubeObject, objectKey } from '@asterism/machinery';
import { type ClusterFailure, resolveClusters } from '../clusters-flag.ts';
import { describeError, EXIT } from '../exit-code.ts';
import { currentObject, inNamespace, readManifests } from '../manifests.ts';
import type { Terminal } from '../output/terminal.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { reportFailures } from './get.ts';

export interface ApplyFlags extends SessionFlags {
  filename: string[];
  clusters?: string;
  forceConflicts?: boolean;
  dryRun?: 'none' | 'server';
}

/** `aster apply -f`: server-side apply of each object, in the order of the files, to the hub or to each cluster of `-C`. */
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
  let applied = 0;
  for (const { label, client } of targets) {
    for (const object of objects) {
      try {
        terminal.out(`${label}${await applyOne(client, object, session.namespace, flags)}\n`);
        applied += 1;
      } catch (error) {
        failures.push({ cluster: `${label}${object.kind ?? ''} ${objectKey(object)}`, error });
      }
    }
  }
  if (flags.clusters !== undefined) return reportFailures(failures, applied, terminal);
  for (const { cluster, error } of failures) terminal.err(`${cluster}: ${describeError(error)}\n`);
  return failures.length === 0 ? EXIT.fine : EXIT.error;
}

async function applyOne(client: Client, object: KubeObject, namespace: string, flags: ApplyFlags): Promise<string> {
  const type = await client.discovery.typeFor(object);
  const placed = inNamespace(object, type, namespace);
  const before = await currentObject(client, type, placed);
  const dryRun = flags.dryRun === 'server';
  const after = await client.resource(type).apply(placed, {
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
