import { mayOverride } from '@asterism/fleet/deliver';
import { type ImaginedFleet, readFleet } from '@asterism/fleet/place';
import { type KubeObject, objectKey } from '@asterism/machinery';
import type { ResourceArgument } from '../resource-argument.ts';
import type { Session } from '../session.ts';
import type { ImaginedObjects } from './imagine-objects.ts';

export interface ImaginedScope {
  /** What the words of the command name. */
  targets: readonly ResourceArgument[];
  /** Of `-l`: which of a kind that is named without names. */
  selector: string | undefined;
  /** Of `-n`, if it was given. */
  namespace: string | undefined;
  /** What there would be besides; undefined: nothing. */
  files: ImaginedObjects | undefined;
}

export const NO_OBJECTS: ImaginedObjects = { policies: [], overrides: [], templates: [] };

/** The fleet with what is imagined in it, of the templates that are named, else of those that the files are about, else of all. */
export async function imagineFleet(session: Session, scope: ImaginedScope): Promise<ImaginedFleet> {
  const { targets, files } = scope;
  const { policies, overrides, templates: imagined } = files ?? NO_OBJECTS;
  const isNamed = targets.length > 0;
  const templates = isNamed ? inTheirPlace(await readTargets(session, scope), imagined) : imagined;
  const about = isNamed ? 'Templates' : files && overrides.length === 0 ? 'Policies' : 'Placed';
  const namespace = isNamed || files ? commonNamespace([...templates, ...policies, ...overrides]) : scope.namespace;
  const fleet = await readFleet(session.hub, { about, namespace, templates, policies, overrides });
  if (isNamed || overrides.length === 0 || policies.length > 0) return fleet;
  const isConcerned = (template: KubeObject): boolean =>
    imagined.some((each) => isSame(each, template)) || overrides.some((policy) => mayOverride(policy, template));
  return { ...fleet, templates: fleet.templates.filter(isConcerned) };
}

/** Every object that the words name; each must be there. Of a kind without names all. */
export async function readTargets(
  session: Session,
  { targets, selector }: Pick<ImaginedScope, 'targets' | 'selector'>,
): Promise<KubeObject[]> {
  const reads = targets.map(async ({ resource, names }) => {
    const namespace = resource.namespaced ? session.namespace : undefined;
    const objects = session.hub.resource(resource);
    if (names.length > 0) return await Promise.all(names.map((name) => objects.get({ namespace, name })));
    return (await objects.list({ namespace, labelSelector: selector })).items;
  });
  return (await Promise.all(reads)).flat();
}

/** The objects, and of those that are imagined the imagined ones. */
function inTheirPlace(objects: readonly KubeObject[], imagined: readonly KubeObject[]): KubeObject[] {
  return objects.map((object) => imagined.find((each) => isSame(each, object)) ?? object);
}

function isSame(a: KubeObject, b: KubeObject): boolean {
  return a.apiVersion === b.apiVersion && a.kind === b.kind && objectKey(a) === objectKey(b);
}

/** Undefined where they are not all in one. */
function commonNamespace(objects: readonly KubeObject[]): string | undefined {
  const namespaces = new Set(objects.map(({ metadata }) => metadata?.namespace));
  return namespaces.size === 1 ? [...namespaces][0] : undefined;
}
