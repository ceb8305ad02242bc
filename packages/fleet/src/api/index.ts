// Other packages use every name of `kinds.ts` and of `names.ts`.
export { customResourceDefinitions } from './custom-resource-definitions.ts';
export { formatUnappliedOverride } from './format-unapplied-override.ts';
export * from './kinds.ts';
export * from './names.ts';
