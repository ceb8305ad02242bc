import Type from 'typebox';
import { ClusterAffinity, ResourceSelector, StringMap } from './parts.ts';

const Operator = Type.Enum(['add', 'replace', 'remove']);

const ImageOverrider = Type.Object({
  /** `Tag` is what follows the repository: a tag, a digest, or both. */
  component: Type.Enum(['Registry', 'Repository', 'Tag'], {
    description: 'Tag is what follows the repository: a tag, a digest, or both',
  }),
  operator: Operator,
  value: Type.Optional(Type.String()),
  predicate: Type.Optional(
    Type.Object(
      { path: Type.String({ minLength: 1 }) },
      { description: 'JSON pointer to the one image to change; default: that of every container' },
    ),
  ),
});

const ContainerOverrider = Type.Object({
  containerName: Type.String({ minLength: 1, description: 'The container or init container to change' }),
  operator: Type.Enum(['add', 'remove']),
  value: Type.Array(Type.String(), { description: 'Words to add at the end, or to take out' }),
});

const MapOverrider = Type.Object({ operator: Operator, value: StringMap });

const PlaintextOverrider = Type.Object({
  path: Type.String({ pattern: '^/', description: 'JSON pointer (RFC 6901)' }),
  operator: Operator,
  value: Type.Optional(Type.Unknown({ 'x-kubernetes-preserve-unknown-fields': true })),
});

export const Overriders = Type.Object({
  imageOverrider: Type.Optional(Type.Array(ImageOverrider, { description: 'Registry, repository or tag of images' })),
  commandOverrider: Type.Optional(Type.Array(ContainerOverrider, { description: 'The command of a container' })),
  argsOverrider: Type.Optional(Type.Array(ContainerOverrider, { description: 'The arguments of a container' })),
  labelsOverrider: Type.Optional(Type.Array(MapOverrider, { description: 'Labels of the object' })),
  annotationsOverrider: Type.Optional(Type.Array(MapOverrider, { description: 'Annotations of the object' })),
  plaintext: Type.Optional(Type.Array(PlaintextOverrider, { description: 'Any field; the last of all' })),
});

export const OverridePolicySpec = Type.Object({
  resourceSelectors: Type.Optional(
    Type.Array(ResourceSelector, { description: 'Which templates; default: all that the policy reaches' }),
  ),
  overrideRules: Type.Array(
    Type.Object({
      targetCluster: Type.Optional(ClusterAffinity),
      overriders: Overriders,
    }),
    { minItems: 1, description: 'Applied in this order' },
  ),
});
