export { type Binding, bindingType } from './binding-client.ts';
export { bindingName } from './binding-name.ts';
export { isDispatchingSuspended } from './dispatch-suspension.ts';
export { ensureTemplateNamespace } from './ensure-template-namespace.ts';
export type { ManifestSource } from './manifest-source.ts';
export { Templates } from './templates.ts';
