import type { Client } from '@asterism/client';
import { GROUP } from '@asterism/fleet/api';
import type { AnyOverridePolicy } from '@asterism/fleet/deliver';
import { type Policy, readCaller, withAuthor } from '@asterism/fleet/place';
import { isNotFound, isStatusError, type KubeObject, objectKey, type ResourceType } from '@asterism/machinery';
import { CommandError, describeError, EXIT } from '../exit-code.ts';
import { currentObject, inNamespace, readManifests } from '../manifests.ts';
import type { Terminal } from '../output/terminal.ts';
import { oneLine } from '../output/one-line.ts';

/** Objects as they would stand in the hub, by what they are to a placement. */
export interface ImaginedObjects {
  policies: Policy[];
  overrides: AnyOverridePolicy[];
  /** All that is not of the hub's own kinds. */
  templates: KubeObject[];
}

const POLICIES: ReadonlySet<string> = new Set(['PropagationPolicy', 'ClusterPropagationPolicy']);
const OVERRIDES: ReadonlySet<string> = new Set(['OverridePolicy', 'ClusterOverridePolicy']);

/** The objects of files as the hub would store them if they were applied; none of them is. */
export async function imagineFiles(
  paths: readonly string[],
  { hub, namespace }: { hub: Client; namespace: string },
  terminal: Pick<Terminal, 'err'>,
): Promise<ImaginedObjects> {
  const imagined: ImaginedObjects = { policies: [], overrides: [], templates: [] };
  for (const object of await readManifests(paths)) {
    const type = await hub.discovery.typeFor(object);
    const stored = await imagineApplied(hub, type, inNamespace(object, type, namespace), terminal);
    if (type.group !== GROUP) imagined.templates.push(stored);
    else if (POLICIES.has(type.kind)) imagined.policies.push(stored as Policy);
    else if (OVERRIDES.has(type.kind)) imagined.overrides.push(stored as AnyOverridePolicy);
    else throw new CommandError(`${type.kind} ${objectKey(object)} is neither a template nor a policy`, EXIT.usage);
  }
  return imagined;
}

/**
 * The answer of the hub to a dry run, with its defaults, and with the refusal of what it would not take. Whoever may not write such
 * an object may ask all the same: it is then taken as it is written, over what stands there.
 */
export async function imagineApplied(
  hub: Client,
  type: ResourceType,
  object: KubeObject,
  terminal: Pick<Terminal, 'err'>,
): Promise<KubeObject> {
  try {
    const options = { fieldManager: 'aster', fieldValidation: 'Strict', force: true, dryRun: true } as const;
    return await hub.resource(type).apply(object, options);
  } catch (error) {
    if (!isStatusError(error, 'Forbidden') && !isWithoutNamespace(error)) throw error;
    const why = isNotFound(error) ? 'its namespace is not there yet' : describeError(error);
    terminal.err(
      oneLine(`${type.kind} ${objectKey(object)} is taken as it is written, for the hub cannot be asked: ${why}`),
    );
    const present = await currentObject(hub, type, object);
    const merged = { ...present, ...object, metadata: { ...present?.metadata, ...object.metadata } };
    const isPolicy = type.group === GROUP && POLICIES.has(type.kind);
    return isPolicy ? withAuthor(merged, await readCaller(hub)) : merged;
  }
}

function isWithoutNamespace(error: unknown): boolean {
  return isNotFound(error) && error.status.details?.kind === 'namespaces';
}
