export * from './custom-resource-definitions.ts';
export * from './format-unapplied-override.ts';
export * from './kinds.ts';
export * from './names.ts';
