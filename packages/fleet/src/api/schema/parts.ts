import Type from 'typebox';

/** Shapes that several kinds share. They become TypeScript types (erased) and CRD schemas (generated) from this one text. */

export const StringMap = Type.Record(Type.String(), Type.String());

/** What policies select clusters by. A joining cluster may ask for it; the hub, a token or an administrator gives it. */
export function placementFacts(descriptions: Record<'labels' | 'provider' | 'region' | 'zones', string>) {
  const { labels, provider, region, zones } = descriptions;
  return {
    labels: Type.Optional({ ...StringMap, description: labels }),
    provider: Type.Optional(Type.String({ maxLength: 253, description: provider })),
    region: Type.Optional(Type.String({ maxLength: 253, description: region })),
    zones: Type.Optional(Type.Array(Type.String({ maxLength: 253 }), { maxItems: 64, description: zones })),
  };
}

/** The facts that the Cluster has. */
export const PlacementFacts = placementFacts({
  labels: 'Labels of the Cluster',
  provider: 'Provider of the Cluster',
  region: 'Region of the Cluster',
  zones: 'Zones of the Cluster',
});

/** An object whose inside belongs to somebody else: kept whole, never pruned. */
export const Foreign = Type.Record(Type.String(), Type.Unknown(), { 'x-kubernetes-preserve-unknown-fields': true });

export const Condition = Type.Object({
  type: Type.String({ maxLength: 316 }),
  status: Type.Enum(['True', 'False', 'Unknown']),
  reason: Type.String({ minLength: 1, maxLength: 1024 }),
  message: Type.String({ maxLength: 32768 }),
  lastTransitionTime: Type.String({ format: 'date-time' }),
  observedGeneration: Type.Optional(Type.Integer({ minimum: 0, format: 'int64' })),
});

/** Conditions merge by their type, as Kubernetes' own do. */
export const Conditions = Type.Array(Condition, {
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
});

export const LabelSelectorRequirement = Type.Object({
  key: Type.String(),
  operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
  values: Type.Optional(Type.Array(Type.String())),
});

export const LabelSelector = Type.Object({
  matchLabels: Type.Optional(StringMap),
  matchExpressions: Type.Optional(Type.Array(LabelSelectorRequirement)),
});

export const FieldSelector = Type.Object({
  matchExpressions: Type.Optional(
    Type.Array(
      Type.Object({
        key: Type.Enum(['provider', 'region', 'zone'], { description: 'A field of the Cluster' }),
        operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: Type.Optional(Type.Array(Type.String())),
      }),
    ),
  ),
});

/** Which clusters. All that is given must hold; nothing given means every cluster. */
export const ClusterAffinity = Type.Object({
  labelSelector: Type.Optional(LabelSelector),
  fieldSelector: Type.Optional(FieldSelector),
  clusterNames: Type.Optional(Type.Array(Type.String(), { description: 'These alone' })),
  exclude: Type.Optional(Type.Array(Type.String(), { description: 'Not these, whatever else holds' })),
});

const LabelKey = Type.String({
  pattern:
    '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$',
  maxLength: 317,
});
const LabelValue = Type.String({ pattern: '^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$' });

/** As {@link LabelSelector}, and nothing that no label can fulfil. A schema cannot say it of the keys of `matchLabels`. */
const SoundLabelSelector = Type.Object({
  matchLabels: Type.Optional(Type.Record(Type.String(), LabelValue)),
  matchExpressions: Type.Optional(
    Type.Array(
      Type.Object(
        {
          key: LabelKey,
          operator: Type.Enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
          values: Type.Optional(Type.Array(LabelValue)),
        },
        {
          oneOf: [
            { properties: { operator: { enum: ['In', 'NotIn'] }, values: { minItems: 1 } }, required: ['values'] },
            { properties: { operator: { enum: ['Exists', 'DoesNotExist'] }, values: { maxItems: 0 } } },
          ],
        },
      ),
    ),
  ),
});

/** Which templates. A name wins over labels; neither means all of the kind. */
export const ResourceSelector = Type.Object({
  apiVersion: Type.String({ minLength: 1 }),
  kind: Type.String({ minLength: 1 }),
  namespace: Type.Optional(Type.String()),
  name: Type.Optional(Type.String({ description: 'Wins over labelSelector' })),
  labelSelector: Type.Optional(SoundLabelSelector),
});

export const Taint = Type.Object({
  key: Type.String({ minLength: 1 }),
  value: Type.Optional(Type.String()),
  effect: Type.Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
  timeAdded: Type.Optional(Type.String({ format: 'date-time', description: 'Since when' })),
});

export const Toleration = Type.Object({
  key: Type.Optional(Type.String({ description: 'None, with Exists: every taint' })),
  operator: Type.Optional(Type.Enum(['Exists', 'Equal'], { description: 'Default Equal' })),
  value: Type.Optional(Type.String()),
  effect: Type.Optional(
    Type.Enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], { description: 'None: every effect' }),
  ),
  tolerationSeconds: Type.Optional(
    Type.Integer({
      format: 'int64',
      description:
        'For how long what stands in a cluster bears a taint NoExecute. No taint drives anything out yet, so it makes no difference yet',
    }),
  ),
});

/** Quantities by resource name: `cpu`, `memory`, `pods`, … */
export const ResourceList = Type.Record(Type.String(), Type.String());

export const SyncMode = Type.Enum(['Push', 'Pull', 'Dual'], {
  description: 'Who writes to the cluster: the hub (Push), or the agent (Pull, Dual)',
});

/** The template that something is about. */
export const ObjectReference = Type.Object({
  apiVersion: Type.String(),
  kind: Type.String(),
  namespace: Type.Optional(Type.String()),
  name: Type.String(),
  uid: Type.Optional(Type.String()),
});

/** What search keeps of a cluster. */
/** How much search keeps of one cluster. */
export const SearchShare = Type.Object({
  maxObjects: Type.Optional(
    Type.Integer({ minimum: 1, description: 'How many objects search keeps of one cluster. Default: 1,000,000' }),
  ),
  maxBytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      format: 'int64',
      description: 'How many bytes of objects search keeps of one cluster. Default: 2147483648 (2 GiB)',
    }),
  ),
});

export const IndexRule = Type.Object({
  group: Type.String({ description: 'API group; empty for the core, * for every group' }),
  versions: Type.Optional(
    Type.Array(Type.String(), {
      description: 'The first that the cluster serves is kept; default: the one it prefers',
    }),
  ),
  resources: Type.Array(Type.String(), {
    minItems: 1,
    description: 'Plural names, or *, which never means Secrets, Events or Leases',
  }),
  namespaces: Type.Optional(Type.Array(Type.String(), { description: 'Only objects in these' })),
});
