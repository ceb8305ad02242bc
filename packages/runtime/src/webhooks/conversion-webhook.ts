import { setImmediate as othersTurn } from 'node:timers/promises';
import {
  badRequest,
  formatApiVersion,
  isJsonObject,
  type KubeObject,
  objectKey,
  parseApiVersion,
  type ResourceType,
} from '@asterism/machinery';
import { answerReview, type ReviewKind, readReview } from './review.ts';
import type { ReviewContext, Webhook } from './webhook.ts';

const CONVERSION_REVIEW: ReviewKind = {
  kind: 'ConversionReview',
  apiVersions: ['apiextensions.k8s.io/v1', 'apiextensions.k8s.io/v1beta1'],
};

/** A list is converted in turns of so long, so that nothing else of the process waits, ms. */
const TURN_MS = 10;

/**
 * How a version is made of the hub, and the hub of it. What is given is not to be changed.
 *
 * @example {@link createConversionWebhook}
 */
export interface ConversionWays<Hub extends KubeObject, T extends KubeObject> {
  toHub(object: T): Hub | Promise<Hub>;
  fromHub(hub: Hub): T | Promise<T>;
}

/**
 * A kind in several versions: each is converted to one of them, the hub, and from there to any other.
 *
 * @example {@link createConversionWebhook}
 */
export interface ConvertedKind<Hub extends KubeObject = KubeObject> {
  /** The version that says most. */
  readonly hub: ResourceType<Hub>;
  /** The way there, by version. */
  readonly spokes: ReadonlyMap<string, { type: ResourceType; ways: ConversionWays<Hub, KubeObject> }>;
  /**
   * Adds a version. Of what a way returns `apiVersion`, `kind` and `metadata` may be left out: they are set, and of metadata
   * labels and annotations alone can be changed, as the API server has it. What one version cannot say belongs in an annotation,
   * so that there and back again is the same. Throws where it is another kind, or a version that is there.
   */
  spoke<T extends KubeObject>(type: ResourceType<T>, ways: ConversionWays<Hub, NoInfer<T>>): this;
}

/**
 * Which kinds are converted, and at which path.
 *
 * @example {@link createConversionWebhook}
 */
export interface ConversionWebhookOptions {
  /** Default `/convert`. */
  path?: string | undefined;
  /** Made by {@link createConvertedKind}. */
  kinds: readonly ConvertedKind[];
}

/**
 * A kind that has no version yet but its hub.
 *
 * @example
 * ```ts
 * const tests = createConvertedKind(TESTS).spoke({ ...TESTS, version: 'v1alpha1' }, {
 *   toHub: ({ spec }) => ({ spec: { image: spec?.image ?? 'busybox' } }),
 *   fromHub: ({ spec }) => ({ spec: { image: spec?.image ?? 'busybox' } }),
 * });
 * ```
 */
export function createConvertedKind<Hub extends KubeObject>(hub: ResourceType<Hub>): ConvertedKind<Hub> {
  const spokes = new Map<string, { type: ResourceType; ways: ConversionWays<Hub, KubeObject> }>();
  return {
    hub,
    spokes,
    spoke(type, ways) {
      const what = `${type.kind} of ${formatApiVersion(type)}`;
      if (type.group !== hub.group || type.kind !== hub.kind) throw new Error(`${what} is no version of ${hub.kind}`);
      if (type.version === hub.version || spokes.has(type.version)) throw new Error(`${what} is there twice`);
      spokes.set(type.version, { type, ways: ways as unknown as ConversionWays<Hub, KubeObject> });
      return this;
    },
  };
}

/**
 * For `spec.conversion` of CustomResourceDefinitions; one webhook serves any number of kinds. What a conversion throws is told,
 * with the object's name, to whoever asked for the object: there is no version of it to give.
 *
 * @example
 * ```ts
 * interface Tab extends KubeObject {
 *   spec: { schedule: string };
 * }
 * interface OldTab extends KubeObject {
 *   spec: { cron: string };
 * }
 * const kind = { group: 'example.dev', resource: 'tabs', kind: 'Tab', namespaced: true };
 * const TABS: ResourceType<Tab> = { ...kind, version: 'v2' };
 * const OLD_TABS: ResourceType<OldTab> = { ...kind, version: 'v1' };
 * const tabs = createConvertedKind(TABS).spoke(OLD_TABS, {
 *   toHub: ({ spec }) => ({ spec: { schedule: spec.cron } }),
 *   fromHub: ({ spec }) => ({ spec: { cron: spec.schedule } }),
 * });
 * const webhook = createConversionWebhook({ kinds: [tabs] });
 * ```
 */
export function createConversionWebhook({ path = '/convert', kinds }: ConversionWebhookOptions): Webhook {
  const byKind = new Map<string, ConvertedKind>();
  for (const kind of kinds) {
    const key = keyOf(kind.hub);
    if (byKind.has(key)) throw new Error(`${key} is there twice`);
    byKind.set(key, kind);
  }
  return {
    path,
    async answer(document, context) {
      const review = readReview(document, CONVERSION_REVIEW);
      const { desiredAPIVersion, objects } = review.request;
      if (typeof desiredAPIVersion !== 'string' || desiredAPIVersion === '') {
        throw badRequest('the ConversionReview has no request.desiredAPIVersion');
      }
      if (!Array.isArray(objects) || !objects.every(isJsonObject)) {
        throw badRequest('the ConversionReview has no request.objects that are objects');
      }
      return answerReview(review, await convertAll(byKind, objects as KubeObject[], desiredAPIVersion, context));
    },
  };
}

async function convertAll(
  kinds: ReadonlyMap<string, ConvertedKind>,
  objects: readonly KubeObject[],
  to: string,
  { signal, logger }: ReviewContext,
): Promise<object> {
  const convertedObjects: KubeObject[] = [];
  let turnEnds = performance.now() + TURN_MS;
  for (const object of objects) {
    try {
      convertedObjects.push(await convert(kinds, object, to));
    } catch (err) {
      const { apiVersion, kind } = object;
      const message = `cannot convert ${kind} ${objectKey(object)} from ${apiVersion} to ${to}: ${messageOf(err)}`;
      logger.error({ err, kind, apiVersion, to, name: objectKey(object) }, 'an object cannot be converted');
      return { convertedObjects: [], result: { status: 'Failure', message } };
    }
    if (performance.now() < turnEnds) continue;
    await othersTurn();
    signal.throwIfAborted();
    turnEnds = performance.now() + TURN_MS;
  }
  return { convertedObjects, result: { status: 'Success' } };
}

async function convert(
  kinds: ReadonlyMap<string, ConvertedKind>,
  object: KubeObject,
  desired: string,
): Promise<KubeObject> {
  const from = parseApiVersion(object.apiVersion ?? '');
  const to = parseApiVersion(desired);
  const known = kinds.get(keyOf({ group: from.group, kind: object.kind ?? '' }));
  if (!known || from.group !== to.group) throw new Error('this webhook does not convert that kind');
  if (from.version === to.version) return object;
  const { hub } = known;
  const source = spokeOf(known, from.version);
  const target = spokeOf(known, to.version);
  const middle = source ? asVersion(await source.ways.toHub(object), hub, object) : object;
  return target ? asVersion(await target.ways.fromHub(middle), target.type, object) : middle;
}

/** Undefined for the hub itself. */
function spokeOf({ hub, spokes }: ConvertedKind, version: string) {
  if (version === hub.version) return undefined;
  const spoke = spokes.get(version);
  if (!spoke) throw new Error(`this webhook does not know its version ${version}`);
  return spoke;
}

/** Names, owners and the like are the API server's: it refuses another name or uid, and drops what else is changed. */
function asVersion(converted: unknown, type: ResourceType, { metadata: given }: KubeObject): KubeObject {
  if (!isJsonObject(converted)) throw new TypeError(`no object came of the conversion to ${type.version}`);
  const { apiVersion: _, kind: __, metadata: own, ...rest } = converted as KubeObject;
  const metadata = own === undefined ? given : { ...given, labels: own.labels, annotations: own.annotations };
  const head = { apiVersion: formatApiVersion(type), kind: type.kind };
  return { ...head, ...(metadata === undefined ? {} : { metadata }), ...rest } as KubeObject;
}

function keyOf({ group, kind }: { group: string; kind: string }): string {
  return group === '' ? kind : `${kind}.${group}`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
