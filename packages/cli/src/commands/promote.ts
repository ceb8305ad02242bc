import { carryOut, type Outcome, planPromotion, type Promotion } from '@asterism/fleet/deliver/promote';
import { formatGroupResource, type KubeObject, parseApiVersion } from '@asterism/machinery';
import { resolveClusters } from '../clusters-flag.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import { formatObjects, type ObjectFormat } from '../output/objects.ts';
import type { Terminal } from '../output/terminal.ts';
import { parseResourceArgument } from '../resource-argument.ts';
import { openSession, type SessionFlags } from '../session.ts';
import { oneLine } from '../output/one-line.ts';

export interface PromoteFlags extends SessionFlags {
  clusters: string;
  dependencies?: boolean;
  dryRun?: boolean;
  output?: ObjectFormat;
}

/** `aster promote deploy/web -C alder`: has the hub take over what stands in a member, as it stands there. */
export async function promote(words: readonly string[], flags: PromoteFlags, terminal: Terminal): Promise<number> {
  await using session = await openSession(flags, terminal);
  const [cluster, ...others] = await resolveClusters(flags.clusters, session.hub);
  if (cluster === undefined || others.length > 0) {
    throw new CommandError('an object is promoted from one cluster: name it with -C', EXIT.usage);
  }
  const member = session.member(cluster);
  const { resource, names } = await parseResourceArgument(words, member);
  const [name] = names;
  if (name === undefined || names.length > 1) {
    throw new CommandError('which one? for example: aster promote deploy/web -C alder', EXIT.usage);
  }
  const { hub } = session;
  const namespace = resource.namespaced ? session.namespace : undefined;
  const dependencies = flags.dependencies === true;
  const promotion = await planPromotion({ hub, member, cluster, type: resource, namespace, name, dependencies });
  if (flags.dryRun) {
    const objects = objectsOf(promotion);
    if (flags.output === 'json' || flags.output === 'yaml') await print(objects, flags.output, terminal);
    else
      for (const object of objects)
        terminal.out(oneLine(`${nameOf(object)}${flags.output ? '' : ' created (dry run)'}`));
    return EXIT.fine;
  }
  for await (const outcome of carryOut(hub, promotion, 'aster')) say(outcome, flags.output, terminal);
  if (flags.output === 'json' || flags.output === 'yaml') await print(objectsOf(promotion), flags.output, terminal);
  const place = namespace === undefined ? '' : ` -n ${namespace}`;
  terminal.err(
    oneLine(
      `${cluster} keeps it as it runs. \`aster why ${resource.singular || resource.resource}/${name}${place}\` tells whether the hub has it.`,
    ),
  );
  return EXIT.fine;
}

function objectsOf({ policy, templates }: Promotion): KubeObject[] {
  return [policy, ...templates];
}

function say({ object, created }: Outcome, format: ObjectFormat | undefined, terminal: Terminal): void {
  if (format === 'name') terminal.out(oneLine(`${nameOf(object)}`));
  else if (!format) terminal.out(oneLine(`${nameOf(object)} ${created ? 'created' : 'unchanged'}`));
}

async function print(objects: readonly KubeObject[], format: 'json' | 'yaml', terminal: Terminal): Promise<void> {
  terminal.out(await formatObjects(objects, undefined, format, false));
}

/** `deployment.apps/web`, as kubectl names it. */
function nameOf({ apiVersion = '', kind = '', metadata }: KubeObject): string {
  const { group } = parseApiVersion(apiVersion);
  return `${formatGroupResource({ group, resource: kind.toLowerCase() })}/${metadata?.name}`;
}
