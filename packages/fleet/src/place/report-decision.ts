import type { Logger } from '@asterism/runtime';
import type { Binding } from '../template/binding-client.ts';
import type { TemplateIdentity } from '../template/template-key.ts';

/** Logs where a template is placed from now on, or why it cannot be. */
export function reportDecision(
  logger: Logger,
  what: string,
  { kind, namespace, name }: TemplateIdentity,
  spec: Binding['spec'],
): void {
  const { clusters = [], unschedulable } = spec;
  const fields = {
    template: { kind, namespace, name },
    clusters: Object.fromEntries(clusters.map((target) => [target.name, target.replicas ?? true])),
  };
  if (unschedulable) logger.warn(fields, `cannot be placed: ${unschedulable.message}`);
  else logger.info(fields, what);
}
