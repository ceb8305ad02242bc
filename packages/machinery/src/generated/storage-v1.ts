// Generated from data/kubernetes-1.36.json (v1.36.2) by generator/main.ts: do not edit, run `npm run generate`.
import type { ObjectMeta } from '../object.ts';
import type { PersistentVolumeSpec, TopologySelectorTerm } from './core-v1.ts';
import type { LabelSelector } from './meta-v1.ts';

export type CSIDriver = {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: CSIDriverSpec;
};

export interface CSIDriverSpec {
  attachRequired?: boolean;
  fsGroupPolicy?: string;
  nodeAllocatableUpdatePeriodSeconds?: number;
  podInfoOnMount?: boolean;
  preventPodSchedulingIfMissing?: boolean;
  requiresRepublish?: boolean;
  seLinuxMount?: boolean;
  serviceAccountTokenInSecrets?: boolean;
  storageCapacity?: boolean;
  tokenRequests?: TokenRequestStorage[];
  volumeLifecycleModes?: string[];
}

export type CSINode = {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: CSINodeSpec;
};

export interface CSINodeDriver {
  allocatable?: VolumeNodeResources;
  name: string;
  nodeID: string;
  topologyKeys?: string[];
}

export interface CSINodeSpec {
  drivers: CSINodeDriver[];
}

export type CSIStorageCapacity = {
  apiVersion?: string;
  capacity?: string | number;
  kind?: string;
  maximumVolumeSize?: string | number;
  metadata?: ObjectMeta;
  nodeTopology?: LabelSelector;
  storageClassName: string;
};

export type StorageClass = {
  allowVolumeExpansion?: boolean;
  allowedTopologies?: TopologySelectorTerm[];
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  mountOptions?: string[];
  parameters?: Record<string, string>;
  provisioner: string;
  reclaimPolicy?: 'Delete' | 'Recycle' | 'Retain';
  volumeBindingMode?: 'Immediate' | 'WaitForFirstConsumer';
};

export interface TokenRequestStorage {
  audience: string;
  expirationSeconds?: number;
}

export type VolumeAttachment = {
  apiVersion?: string;
  kind?: string;
  metadata?: ObjectMeta;
  spec: VolumeAttachmentSpec;
  status?: VolumeAttachmentStatus;
};

export interface VolumeAttachmentSource {
  inlineVolumeSpec?: PersistentVolumeSpec;
  persistentVolumeName?: string;
}

export interface VolumeAttachmentSpec {
  attacher: string;
  nodeName: string;
  source: VolumeAttachmentSource;
}

export interface VolumeAttachmentStatus {
  attachError?: VolumeError;
  attached: boolean;
  attachmentMetadata?: Record<string, string>;
  detachError?: VolumeError;
}

export type VolumeAttributesClass = {
  apiVersion?: string;
  driverName: string;
  kind?: string;
  metadata?: ObjectMeta;
  parameters?: Record<string, string>;
};

export interface VolumeError {
  errorCode?: number;
  message?: string;
  time?: string;
}

export interface VolumeNodeResources {
  count?: number;
}
