import { failure, formatGroupResource, type KubeObject, type StatusError } from '@asterism/machinery';
import type { Registry } from '../registry/registry.ts';
import type { IdentityLimit, IdentityLimits } from './identity-limit.ts';
import { StoredByUser } from './stored-by-user.ts';
import type { AdmissionRequest, AdmissionStep } from '../contract/admission-step.ts';

const MASTERS = 'system:masters';
const RETRY_AFTER_SECONDS = 5;

/** The admission steps that keep to {@link IdentityLimits}: one notes who creates an object, one refuses what is too much. */
export function limitIdentities(
  { limits, annotation, exemptGroups = [] }: IdentityLimits,
  { registry, clock }: { registry: Registry; clock: () => number },
): AdmissionStep[] {
  const kept = limits.map((limit) => ({ limit, stored: new StoredByUser(limit, annotation) }));
  registry.observe((change) => {
    for (const { stored } of kept) stored.observe(change);
  });
  const exempt = new Set([MASTERS, ...exemptGroups]);
  const find = ({ resource }: AdmissionRequest) =>
    kept.find(({ limit }) => limit.resources.includes(formatGroupResource(resource.type)));
  const note: AdmissionStep = {
    phase: 'mutate',
    admit: async (request) => {
      const { object } = request;
      if (object && find(request)?.limit.ownerOf === undefined && find(request)) noteOwner(request, object, annotation);
      return object;
    },
  };
  const refuse: AdmissionStep = {
    phase: 'validate',
    admit: async (request) => {
      const { object, oldObject, user, subresource, dryRun, operation } = request;
      const found = object && subresource === undefined ? find(request) : undefined;
      if (!found || !object || user.groups?.some((group) => exempt.has(group))) return object;
      const { limit, stored } = found;
      await stored.load(registry);
      if (operation === 'CREATE' && stored.has(object)) return object;
      const bytes = sizeOf(object);
      const growth = oldObject ? bytes - sizeOf(oldObject) : bytes;
      if (growth <= 0) return object;
      if (bytes > limit.objectBytes) throw tooLarge(request, limit);
      const { username } = user;
      const usage = stored.usageOf(username, clock());
      const isNew = operation === 'CREATE';
      if (usage.bytes + growth > limit.totalBytes || (isNew && usage.objects >= limit.objects)) {
        throw tooMany(request, limit, usage.objects);
      }
      if (isNew && !dryRun) stored.admit(username, object, { bytes, now: clock() });
      return object;
    },
  };
  return [note, refuse];
}

/** Nobody but the server writes the annotation: an update keeps what is there. */
function noteOwner({ operation, oldObject, user }: AdmissionRequest, object: KubeObject, annotation: string): void {
  const owner = operation === 'CREATE' ? user.username : oldObject?.metadata?.annotations?.[annotation];
  const { [annotation]: given, ...others } = object.metadata?.annotations ?? {};
  if (given === owner) return;
  const annotations = owner === undefined ? others : { ...others, [annotation]: owner };
  object.metadata = { ...object.metadata, annotations };
}

function sizeOf(object: KubeObject): number {
  return Buffer.byteLength(JSON.stringify(object));
}

function tooLarge({ resource, user }: AdmissionRequest, { objectBytes }: IdentityLimit): StatusError {
  return failure(
    413,
    `Request entity too large: ${formatGroupResource(resource.type)} of user "${user.username}" may have at most ${objectBytes} bytes`,
  );
}

function tooMany({ resource, user }: AdmissionRequest, limit: IdentityLimit, objects: number): StatusError {
  const which = limit.counts ? 'undecided ' : '';
  return failure(
    429,
    `user "${user.username}" has ${objects} ${which}${formatGroupResource(resource.type)}: one user may have at most ` +
      `${limit.objects} of them, and ${limit.totalBytes} bytes in all. Wait until some are decided or expire, or delete some`,
    { details: { retryAfterSeconds: RETRY_AFTER_SECONDS } },
  );
}
