import {
  imagineClusters,
  isChanged,
  type PlacementPreview,
  type Policy,
  previewPlacements,
} from '@asterism/fleet/place';
import { bindingName } from '@asterism/fleet/template';
import { formatGroupResource, isStatusError } from '@asterism/machinery';
import { isClusterExpression, resolveClusters } from '../clusters-flag.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { currentObject } from '../manifests.ts';
import type { Terminal } from '../output/terminal.ts';
import { checkRights } from '../placement/check-rights.ts';
import { explainPreview, formatPolicy, previewAsJson } from '../placement/explain-preview.ts';
import { imagineFleet, NO_OBJECTS } from '../placement/imagine-fleet.ts';
import { imagineApplied, imagineFiles } from '../placement/imagine-objects.ts';
import { newPolicy, type PolicyFlags } from '../placement/new-policy.ts';
import { type HypothesisFlags, readHypothesis } from '../placement/read-clusters.ts';
import { parseResourceArguments, refuseNamesWithSelector, type ResourceArgument } from '../resource-argument.ts';
import { openSession, type Session, type SessionFlags } from '../session.ts';
import { documents } from './manifests.ts';
import { oneLine } from '../output/one-line.ts';

export interface PropagateFlags extends SessionFlags, PolicyFlags, HypothesisFlags {
  filename?: string[];
  dryRun?: boolean;
  output?: 'yaml' | 'json';
}

/**
 * `aster propagate deploy/web -C alder,birch`: writes the policy that places a template so. With `--dry-run` it writes nothing and tells
 * what the hub would decide: of such a policy, of those in files, of a cluster lost or added.
 */
export async function propagate(words: readonly string[], flags: PropagateFlags, terminal: Terminal): Promise<number> {
  refuseWhatGoesUnheard(words, flags);
  refuseNamesWithSelector(words, flags);
  await using session = await openSession(flags, terminal);
  const targets = words.length > 0 ? await parseResourceArguments(words, session.hub) : [];
  const policy = flags.clusters === undefined ? undefined : await describedPolicy(session, targets, flags);
  if (flags.output === 'yaml') {
    terminal.out(await documents(policy ? [policy] : []));
    return EXIT.fine;
  }
  if (!flags.dryRun && policy) return await writePolicy(session, { policy, targets, flags }, terminal);
  const previews = await preview(session, { policy, targets, flags }, terminal);
  const all = targets.some(({ names }) => names.length > 0);
  print(previews, { flags, all }, terminal);
  return EXIT.fine;
}

const OF_A_POLICY = ['division', 'weights', 'dependencies', 'preempt', 'priority', 'name'] as const;

/** Throws as wrong usage where a flag would make no difference: whoever gave it meant something by it. */
function refuseWhatGoesUnheard(words: readonly string[], flags: PropagateFlags): void {
  const wrong = (message: string) => new CommandError(message, EXIT.usage);
  if (flags.clusters === undefined) {
    const flag = OF_A_POLICY.find((name) => flags[name] !== undefined);
    if (flag) throw wrong(`--${flag} is of a policy to be written: say where to by -C, as in -C all`);
    if (flags.output === 'yaml') throw wrong('-o yaml prints the policy to be written: say where to by -C');
    if (!flags.dryRun) throw wrong('where to? -C alder,birch, -C region=eu or -C all; or ask with --dry-run');
  } else if (words.length === 0) throw wrong('which template? for example: aster propagate deploy/web -C all');
  else if (flags.filename) throw wrong('-f brings policies of its own, and -C makes one: leave out either');
  if (flags.dryRun) return;
  for (const name of ['filename', 'with', 'without'] as const) {
    if (flags[name]) throw wrong(`--${name} asks what would be: add --dry-run (\`aster apply -f\` applies files)`);
  }
  if (flags.output === 'json') throw wrong('-o json tells what would be: add --dry-run');
}

async function describedPolicy(
  session: Session,
  targets: readonly ResourceArgument[],
  flags: PropagateFlags,
): Promise<Policy> {
  const clusters = await clustersOf(flags, session);
  const [first] = targets;
  const scopes = new Set(targets.map(({ resource }) => resource.namespaced));
  if (!first || scopes.size > 1) {
    throw new CommandError('objects with and without a namespace need a policy each: name them apart', EXIT.usage);
  }
  const [firstName] = first.names;
  const selectors = targets.map(({ resource, names }) => ({ ...kindOf(resource), names }));
  const name = flags.name ?? (firstName && bindingName({ ...kindOf(first.resource), name: firstName }));
  if (name === undefined) throw new CommandError('how shall the policy be called? --name tells', EXIT.usage);
  const namespace = first.resource.namespaced ? session.namespace : undefined;
  return newPolicy({ name, namespace }, selectors, clusters, flags);
}

/** Names may be of clusters that are only imagined. */
async function clustersOf({ clusters = 'all', with: imagined = [] }: PropagateFlags, { hub }: Session) {
  const names = clusters.split(',').map((name) => name.trim());
  const areNames = clusters !== 'all' && !isClusterExpression(clusters);
  return areNames && imagined.length > 0 ? names : await resolveClusters(clusters, hub);
}

function kindOf({ group, version, kind }: ResourceArgument['resource']): { apiVersion: string; kind: string } {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind };
}

interface Question {
  policy: Policy | undefined;
  targets: readonly ResourceArgument[];
  flags: PropagateFlags;
}

/** What the hub would decide. */
async function preview(session: Session, question: Question, terminal: Terminal): Promise<PlacementPreview[]> {
  const { policy, targets, flags } = question;
  const { namespace, selector, filename } = flags;
  const read = filename && (await imagineFiles(filename, session, terminal));
  const files = policy ? { ...NO_OBJECTS, policies: [await imaginePolicy(session, policy, terminal)] } : read;
  const fleet = await imagineFleet(session, { targets, selector, namespace, files });
  const clusters = imagineClusters(fleet.clusters, await readHypothesis(flags, fleet.clusters));
  return previewPlacements(await checkRights(session.hub, { ...fleet, clusters }, terminal));
}

async function imaginePolicy({ hub }: Session, policy: Policy, terminal: Terminal): Promise<Policy> {
  return (await imagineApplied(hub, await hub.discovery.typeFor(policy), policy, terminal)) as Policy;
}

function print(
  previews: readonly PlacementPreview[],
  { flags, all }: { flags: PropagateFlags; all: boolean },
  terminal: Terminal,
): void {
  const changed = previews.filter(isChanged);
  if (flags.output === 'json') {
    terminal.out(`${JSON.stringify({ templates: previews.map((each) => previewAsJson(each, all)) }, null, 4)}\n`);
    return;
  }
  terminal.out((all ? previews : changed).map((each) => explainPreview(each, all)).join('\n'));
  const templates = previews.length === 1 ? '1 template' : `${previews.length} templates`;
  terminal.err(oneLine(`${changed.length} of ${templates} would change; nothing was written`));
}

/** Applies the policy, and says of which templates it will not have the say. */
async function writePolicy(
  session: Session,
  question: Question & { policy: Policy },
  terminal: Terminal,
): Promise<number> {
  const { policy } = question;
  const type = await session.hub.discovery.typeFor(policy);
  const before = await currentObject(session.hub, type, policy);
  const previews = await previewIfAllowed(session, question, terminal);
  await session.hub.resource(type).apply(policy, { fieldManager: 'aster', fieldValidation: 'Strict' });
  const singular = formatGroupResource({ group: type.group, resource: type.kind.toLowerCase() });
  terminal.out(oneLine(`${singular}/${policy.metadata.name} ${before ? 'configured' : 'created'}`));
  for (const { template, policy: winner } of previews) {
    if (!winner || (winner.kind === policy.kind && winner.metadata.name === policy.metadata.name)) continue;
    const what = `${template.kind} ${template.metadata?.name}`;
    terminal.err(
      oneLine(
        `${what} stays with ${formatPolicy(winner)}, which goes before it: \`aster propagate --dry-run\` tells why`,
      ),
    );
  }
  return EXIT.fine;
}

/** None where the caller may write policies, but not read all that a preview takes. */
async function previewIfAllowed(session: Session, question: Question, terminal: Terminal): Promise<PlacementPreview[]> {
  try {
    return await preview(session, question, terminal);
  } catch (error) {
    if (!isStatusError(error, 'Forbidden')) throw error;
    return [];
  }
}
