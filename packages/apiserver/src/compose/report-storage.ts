import type { ServerLogger } from '../contract/server-logger.ts';
import type { HealthCheck } from '../http/health/health.ts';
import { formatLabels } from '../http/health/metrics.ts';
import type { Registry } from '../registry/registry.ts';
import { formatRow } from '../storage/damaged-rows.ts';
import type { StorageState } from '../storage/object-store.ts';
import type { StorageError } from '../storage/storage-error.ts';
import { damageRemedy } from '../storage/storage-read-error.ts';
import type { StorageKey } from '../contract/object-change.ts';

/** So many damaged objects are named in the log and in the metrics. The others are counted. */
const NAMED = 100;

/**
 * Logs what an operator should know of the storage: each damaged object once, at the start; and one line when the disk gets full and
 * when it has space again. Nothing of the content of an object is logged.
 */
export function reportStorage(registry: Registry, logger: ServerLogger | undefined): void {
  if (logger === undefined) return;
  const { storage } = registry;
  for (const note of storage.notes) logger.error({}, `the database was damaged: ${note}`);
  for (const row of storage.damaged.slice(0, NAMED)) {
    const { groupResource: resource, namespace, name } = row;
    logger.error(
      { resource, namespace, name },
      `the stored copy of ${formatRow(row)} is damaged and is not served: ${damageRemedy(row, pathOf(registry, row))}`,
    );
  }
  if (storage.damaged.length > NAMED) {
    logger.error({ count: storage.damaged.length }, 'more objects are damaged than are named here: restore a backup');
  }
  const tell = (full: StorageError | undefined): void => {
    if (full) logger.error({}, `${full.message}. Until then only deletions and Leases are written`);
    else logger.info({}, 'the disk has space again: everything is written');
  };
  if (storage.full) tell(storage.full);
  storage.onFull(tell);
}

/** Fails while ordinary writes are refused. */
export function storageCheck(registry: Registry): HealthCheck {
  return {
    name: 'storage',
    isQuiet: true,
    check: () => {
      const { full } = registry.storage;
      if (full) throw full;
    },
  };
}

/** The lines of `/metrics` about the storage. */
export function storageMetrics({ damaged, full, sizes }: StorageState): string[] {
  const metric = (name: string, help: string, value: number): string[] => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    `${name} ${value}`,
  ];
  const lines = [
    ...metric(
      'apiserver_storage_full',
      '1 while only deletions and Leases are written, for lack of space.',
      full ? 1 : 0,
    ),
    ...metric('apiserver_storage_damaged_objects', 'Objects whose stored copy is damaged.', damaged.length),
  ];
  if (damaged.length > 0) {
    lines.push(
      '# HELP apiserver_storage_damaged_object Always 1; its labels name a damaged object.',
      '# TYPE apiserver_storage_damaged_object gauge',
    );
    for (const { groupResource, namespace, name } of damaged.slice(0, NAMED)) {
      lines.push(`apiserver_storage_damaged_object${formatLabels({ resource: groupResource, namespace, name })} 1`);
    }
  }
  if (sizes === undefined) return lines;
  return [
    ...lines,
    ...metric('apiserver_storage_size_bytes', 'Size of the database.', sizes.database),
    ...metric('apiserver_storage_log_bytes', 'Size of the write-ahead log of the database.', sizes.log),
    ...metric('apiserver_storage_free_bytes', 'Free space of the file system with the database.', sizes.free),
  ];
}

function pathOf(
  registry: Registry,
  { groupResource }: StorageKey,
): { group: string; version?: string; resource: string } {
  const [resource = '', ...rest] = groupResource.split('.');
  const group = rest.join('.');
  const served = registry.served().find(({ type }) => type.group === group && type.resource === resource);
  return { group, resource, ...(served && { version: served.type.version }) };
}
