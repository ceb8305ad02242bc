import type { ApiServerOptions } from '@asterism/apiserver';

/**
 * For an API server whose workloads are templates that never run here: they stay as they were written, and the members that get them
 * admit them by their own classes, accounts, limits and quotas, which here are templates themselves. And nothing here leads to a
 * Service's address.
 */
export const FOR_TEMPLATES: Pick<ApiServerOptions, 'admissionPlugins' | 'kubernetesService'> = {
  admissionPlugins: {
    disable: [
      'LimitRanger',
      'ServiceAccount',
      'Priority',
      'DefaultTolerationSeconds',
      'DefaultStorageClass',
      'StorageObjectInUseProtection',
      'PersistentVolumeClaimResize',
      'RuntimeClass',
      'DefaultIngressClass',
      'ResourceQuota',
    ],
  },
  kubernetesService: false,
};
