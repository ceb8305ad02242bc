import Type from 'typebox';
import { Conditions, IndexRule, placementFacts, SearchShare } from './parts.ts';

const patterns = (description: string) =>
  Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 320 }), { maxItems: 64, description }));

const given = placementFacts({
  labels: 'Labels that the new Cluster has, whatever the registration asks for',
  provider: 'Provider of the new Cluster, whatever the registration asks for',
  region: 'Region of the new Cluster, whatever the registration asks for',
  zones: 'Zones of the new Cluster, whatever the registration asks for',
});

/** Whom the hub lets in without a person: a registration must fulfil all that a rule says, and be sound otherwise. */
const ApprovalRule = Type.Object({
  name: Type.String({
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    maxLength: 63,
    description: 'What a registration says approved it',
  }),
  tokenGroups: Type.Array(
    Type.String({ pattern: '^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$', maxLength: 300 }),
    { minItems: 1, description: 'The token that asks is of one of these groups' },
  ),
  namePattern: Type.Optional(
    Type.String({
      pattern: '^[-a-z0-9*?]+$',
      maxLength: 63,
      description: 'The name that is asked for, where * is anything and ? any one character; default: any name',
    }),
  ),
  labels: Type.Optional(
    Type.Record(Type.String(), Type.String(), { description: 'The registration asks for each of these labels' }),
  ),
  setLabels: given.labels,
  setProvider: given.provider,
  setRegion: given.region,
  setZones: given.zones,
  allowLabels: patterns(
    'Labels that the new Cluster gets if the registration asks for them: KEY or KEY=VALUE, where * is any text',
  ),
  allowProviders: patterns('Providers that the new Cluster gets if the registration asks for one; * is any text'),
  allowRegions: patterns('Regions that the new Cluster gets if the registration asks for one; * is any text'),
  allowZones: patterns('Zones that the new Cluster gets if the registration asks for them; * is any text'),
});

export const HubConfigurationSpec = Type.Object({
  approvalRules: Type.Optional(
    Type.Array(ApprovalRule, {
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: 'Who is let in without a person; the first that fits decides, and none is what the hub starts with',
    }),
  ),
  index: Type.Optional(
    Type.Array(IndexRule, {
      description:
        'What search keeps of a cluster that joins, for its Cluster to say from then on; [] keeps nothing; default: what people look for',
    }),
  ),
  search: Type.Optional(
    Type.Object(
      {
        shareOfCluster: Type.Optional({
          ...SearchShare,
          description: 'How much search keeps of each cluster whose spec.searchShare does not say otherwise',
        }),
        maxBytes: Type.Optional(
          Type.Integer({
            minimum: 1048576,
            format: 'int64',
            description: 'How large the database of search may become. Default: 68719476736 (64 GiB)',
          }),
        ),
      },
      { description: 'Limits of the search store' },
    ),
  ),
});

export const HubConfigurationStatus = Type.Object({
  observedGeneration: Type.Optional(Type.Integer({ format: 'int64' })),
  conditions: Type.Optional(Conditions),
});
