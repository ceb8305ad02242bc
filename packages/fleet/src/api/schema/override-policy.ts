import Type from 'typebox';
import { ClusterAffinity, ResourceSelector, StringMap } from './parts.ts';

const Operator = Type.Enum(['add', 'replace', 'remove']);

const ImageOverrider = Type.Object({
  /** `Tag` is what follows the repository: a tag, a digest, or both. */
  component: Type.Enum(['Registry', 'Repository', 'Tag']),
  operator: Operator,
  value: Type.Optional(Type.String()),
  predicate: Type.Optional(Type.Object({ path: Type.String({ minLength: 1 }) })),
});

const ContainerOverrider = Type.Object({
  containerName: Type.String({ minLength: 1 }),
  operator: Type.Enum(['add', 'remove']),
  value: Type.Array(Type.String()),
});

const MapOverrider = Type.Object({ operator: Operator, value: StringMap });

const PlaintextOverrider = Type.Object({
  path: Type.String({ pattern: '^/' }),
  operator: Operator,
  value: Type.Optional(Type.Unknown({ 'x-kubernetes-preserve-unknown-fields': true })),
});

export const Overriders = Type.Object({
  imageOverrider: Type.Optional(Type.Array(ImageOverrider)),
  commandOverrider: Type.Optional(Type.Array(ContainerOverrider)),
  argsOverrider: Type.Optional(Type.Array(ContainerOverrider)),
  labelsOverrider: Type.Optional(Type.Array(MapOverrider)),
  annotationsOverrider: Type.Optional(Type.Array(MapOverrider)),
  plaintext: Type.Optional(Type.Array(PlaintextOverrider)),
});

export const OverridePolicySpec = Type.Object({
  resourceSelectors: Type.Optional(Type.Array(ResourceSelector)),
  overrideRules: Type.Array(
    Type.Object({
      targetCluster: Type.Optional(ClusterAffinity),
      overriders: Overriders,
    }),
    { minItems: 1 },
  ),
});
