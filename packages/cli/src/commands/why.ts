import { CLUSTER_RESOURCE_BINDINGS, RESOURCE_BINDINGS } from '@asterism/fleet/api';
import { revealHidden } from '@asterism/fleet/place';
import { isStatusError, type KubeObject, type ResourceType } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { Terminal } from '../output/terminal.ts';
import { explainPassedOver } from '../placement/explain-preview.ts';
import { readSurroundings, readUnableToSelect } from '../placement/read-surroundings.ts';
import { parseResourceArgument } from '../resource-argument.ts';
import { openSession, type Session, type SessionFlags } from '../session.ts';
import { type Binding, explainBinding, type Surroundings } from './explain-binding.ts';
import { oneLine } from '../output/one-line.ts';

export interface WhyFlags extends SessionFlags {
  clusters?: string;
  output?: 'json';
}

/** `aster why deploy/web`: for every cluster, whether the template goes there, with the reason that was recorded. */
export async function why(words: readonly string[], flags: WhyFlags, terminal: Terminal): Promise<number> {
  await using session = await openSession(flags, terminal);
  const { resource, names } = await parseResourceArgument(words, session.hub);
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw new CommandError('which one? for example: aster why deploy/web', EXIT.usage);
  }
  const namespace = resource.namespaced ? session.namespace : undefined;
  const template = await session.hub.resource(resource).get({ namespace, name });
  const recorded = await bindingOf(session, resource, template.metadata?.uid ?? '', namespace);
  const what = `${resource.kind} ${namespace ? `${namespace}/` : ''}${name}`;
  if (recorded === undefined) {
    terminal.out(oneLine(`${what} is placed nowhere: no policy selects it.`));
    terminal.out(explainPassedOver(await readUnableToSelect(session.hub, template, terminal)));
    terminal.err('Write a PropagationPolicy for it; `aster get propagationpolicies` shows those that there are.\n');
    return EXIT.fine;
  }
  const binding = await withHiddenClusters(session, template, recorded);
  const only = flags.clusters === undefined ? undefined : await resolveClusters(flags.clusters, session.hub);
  const surroundings = await readSurroundings(session.hub, template, binding, terminal);
  if (flags.output === 'json') terminal.out(asJson(binding, only, surroundings));
  else terminal.out(explainBinding(binding, what, only, surroundings));
  return EXIT.fine;
}

/** The spec of the binding, and beside it what it does not say itself. */
function asJson({ spec, status }: Binding, only: readonly string[] | undefined, around: Surroundings): string {
  const asked = (cluster: string): boolean => only?.includes(cluster) ?? true;
  const passedOver = around.passedOver.map(({ policy: { kind, metadata }, why: reason }) => ({
    kind,
    ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
    name: metadata.name,
    why: reason,
  }));
  const { unappliedOverrides = [], aggregatedStatus = [] } = status ?? {};
  const answer = {
    ...spec,
    decisions: (spec.decisions ?? []).filter(({ cluster }) => asked(cluster)),
    passedOver,
    overrides: Object.fromEntries([...around.overrides].filter(([cluster]) => asked(cluster))),
    unappliedOverrides: unappliedOverrides.filter(({ clusters }) => clusters.some(asked)),
    notApplied: aggregatedStatus
      .filter(({ clusterName, applied }) => asked(clusterName) && !applied)
      .map(({ clusterName, appliedMessage }) => ({ cluster: clusterName, message: appliedMessage })),
  };
  return `${JSON.stringify(answer, null, 4)}\n`;
}

/** With the decisions about clusters that the binding does not name, if the caller may read the clusters. */
async function withHiddenClusters({ hub }: Session, template: KubeObject, binding: Binding): Promise<Binding> {
  const { hiddenClusters, ...spec } = binding.spec;
  if (!hiddenClusters) return binding;
  try {
    const decisions = [...(spec.decisions ?? []), ...(await revealHidden(hub, template, binding))];
    const inOrder = decisions.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1));
    return { ...binding, spec: { ...spec, decisions: inOrder } } as Binding;
  } catch (error) {
    if (isStatusError(error, 'Forbidden')) return binding;
    throw error;
  }
}

async function bindingOf(
  session: Session,
  type: ResourceType,
  uid: string,
  namespace: string | undefined,
): Promise<Binding | undefined> {
  const { items } = type.namespaced
    ? await session.hub.resource(RESOURCE_BINDINGS).list({ namespace })
    : await session.hub.resource(CLUSTER_RESOURCE_BINDINGS).list();
  return (items as Binding[]).find(({ spec }) => spec.resource.uid === uid);
}
