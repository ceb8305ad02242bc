export * from './backup-data-dir.ts';
export * from './create-hub.ts';
export * from './create-hub-on-kubernetes.ts';
export * from './hub-error.ts';
export * from './hub-options.ts';
export * from './restore-data-dir.ts';
