export * from './create-hub.ts';
export * from './hub-error.ts';
export * from './hub-options.ts';
