import { AN_HOUR_AGO, testCells } from './testing/test-cells.ts';

testCells([
  [
    'StorageClass that is the default',
    'storage.k8s.io',
    'StorageClass',
    {
      metadata: { name: 'fast', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'p',
    },
    {
      Name: 'fast (default)',
      Provisioner: 'p',
      ReclaimPolicy: 'Delete',
      VolumeBindingMode: 'Immediate',
      AllowVolumeExpansion: false,
    },
  ],
  [
    'PersistentVolume that is claimed',
    '',
    'PersistentVolume',
    {
      metadata: { deletionTimestamp: AN_HOUR_AGO },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteMany', 'ReadOnlyMany'],
        claimRef: { namespace: 'n', name: 'c' },
      },
      status: { phase: 'Bound' },
    },
    { Capacity: '1Gi', 'Access Modes': 'ROX,RWX', Status: 'Terminating', Claim: 'n/c' },
  ],
]);
