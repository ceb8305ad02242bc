import type { PersistentVolume, PersistentVolumeClaim } from '../generated/core-v1.ts';
import type {
  CSIDriver,
  CSINode,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
} from '../generated/storage-v1.ts';
import { UNSET, joined } from './cell-text.ts';
import { AGE, NAME, type TablePrinter, boolean, definePrinter, integer, text, wide } from './table-printer.ts';

const ACCESS_MODES = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

/** Before storage classes were a field they were an annotation, which still counts. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';
const DEFAULT_CLASS_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
];

export const PERSISTENT_VOLUME_PRINTER: TablePrinter = definePrinter<PersistentVolume>([
  NAME,
  text('Capacity', ({ spec }) => `${spec?.capacity?.['storage'] ?? 0}`),
  text('Access Modes', ({ spec }) => accessModes(spec?.accessModes)),
  text('Reclaim Policy', ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ''),
  text('Status', phase),
  text('Claim', ({ spec }) => (spec?.claimRef ? `${spec.claimRef.namespace}/${spec.claimRef.name}` : '')),
  text(
    'StorageClass',
    ({ metadata, spec }) => metadata?.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '',
  ),
  text('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? UNSET),
  text('Reason', ({ status }) => status?.reason ?? ''),
  AGE,
  ...wide<PersistentVolume>(text('VolumeMode', ({ spec }) => spec?.volumeMode ?? UNSET)),
]);

export const PERSISTENT_VOLUME_CLAIM_PRINTER: TablePrinter = definePrinter<PersistentVolumeClaim>([
  NAME,
  text('Status', phase),
  text('Volume', ({ spec }) => spec?.volumeName ?? ''),
  text('Capacity', ({ spec, status }) => (spec?.volumeName ? `${status?.capacity?.['storage'] ?? 0}` : '')),
  text('Access Modes', ({ spec, status }) => (spec?.volumeName ? accessModes(status?.accessModes) : '')),
  text(
    'StorageClass',
    ({ metadata, spec }) => metadata?.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '',
  ),
  text('VolumeAttributesClass', ({ spec }) => spec?.volumeAttributesClassName ?? UNSET),
  AGE,
  ...wide<PersistentVolumeClaim>(text('VolumeMode', ({ spec }) => spec?.volumeMode ?? UNSET)),
]);

export const STORAGE_CLASS_PRINTER: TablePrinter = definePrinter<StorageClass>([
  {
    ...NAME,
    cell: ({ metadata }) => {
      const isDefault = DEFAULT_CLASS_ANNOTATIONS.some((key) => metadata?.annotations?.[key] === 'true');
      return `${metadata?.name ?? ''}${isDefault ? ' (default)' : ''}`;
    },
  },
  text('Provisioner', ({ provisioner }) => provisioner),
  text('ReclaimPolicy', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
  text('VolumeBindingMode', ({ volumeBindingMode }) => volumeBindingMode ?? 'Immediate'),
  text('AllowVolumeExpansion', ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false),
  AGE,
]);

export const VOLUME_ATTRIBUTES_CLASS_PRINTER: TablePrinter = definePrinter<VolumeAttributesClass>([
  NAME,
  text('DriverName', ({ driverName }) => driverName),
  AGE,
]);

const ATTACHER = text('Attacher', ({ spec }: VolumeAttachment) => spec?.attacher ?? '');

export const VOLUME_ATTACHMENT_PRINTER: TablePrinter = definePrinter<VolumeAttachment>([
  NAME,
  { ...ATTACHER, column: { ...ATTACHER.column, format: 'name' } },
  text('PV', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
  text('Node', ({ spec }) => spec?.nodeName ?? ''),
  boolean('Attached', ({ status }) => status?.attached ?? false),
  AGE,
]);

export const CSI_DRIVER_PRINTER: TablePrinter = definePrinter<CSIDriver>([
  NAME,
  boolean('AttachRequired', ({ spec }) => spec?.attachRequired ?? true),
  boolean('PodInfoOnMount', ({ spec }) => spec?.podInfoOnMount ?? false),
  boolean('StorageCapacity', ({ spec }) => spec?.storageCapacity ?? false),
  text('TokenRequests', ({ spec }) => spec?.tokenRequests?.map(({ audience }) => audience).join(',') ?? UNSET),
  boolean('RequiresRepublish', ({ spec }) => spec?.requiresRepublish ?? false),
  text('Modes', ({ spec }) => joined(spec?.volumeLifecycleModes)),
  AGE,
]);

export const CSI_NODE_PRINTER: TablePrinter = definePrinter<CSINode>([
  NAME,
  integer('Drivers', ({ spec }) => spec?.drivers?.length ?? 0),
  AGE,
]);

function phase({ metadata, status }: PersistentVolume | PersistentVolumeClaim): string {
  return metadata?.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');
}

function accessModes(modes: readonly string[] | undefined): string {
  return ACCESS_MODES.filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}
