import Type from 'typebox';
import { ClusterAffinity, ResourceSelector, StringMap } from './parts.ts';

const Operator = Type.Enum(['add', 'replace', 'remove']);
const Pointer = (description: string) => Type.String({ pattern: '^/', description });
const AnyValue = Type.Unknown({ 'x-kubernetes-preserve-unknown-fields': true });

/** `kubectl apply` loses the nulls of an object on its way; those of a text it keeps. */
const MergePatch = Type.Unknown({
  'x-kubernetes-preserve-unknown-fields': true,
  description:
    'JSON Merge Patch (RFC 7386): an object, or the text of one in YAML or JSON, whose nulls kubectl apply keeps',
});

const ImageOverrider = Type.Object({
  /** `Tag` is what follows the repository: a tag, a digest, or both. `Digest` leaves the tag. */
  component: Type.Enum(['Registry', 'Repository', 'Tag', 'Digest'], {
    description: 'Tag is what follows the repository: a tag, a digest, or both. Digest leaves the tag',
  }),
  operator: Operator,
  value: Type.Optional(Type.String()),
  predicate: Type.Optional(
    Type.Object(
      { path: Type.String({ minLength: 1 }) },
      { description: 'JSON pointer to the one image to change; default: that of every container' },
    ),
  ),
  initContainers: Type.Optional(
    Type.Boolean({
      description: 'Whether images of init containers change too, where there is no predicate; default true',
    }),
  ),
});

const ContainerOverrider = Type.Object({
  containerName: Type.String({ minLength: 1, description: 'The container or init container to change' }),
  operator: Type.Enum(['add', 'remove']),
  value: Type.Array(Type.String(), { description: 'Words to add at the end, or to take out' }),
});

const MapOverrider = Type.Object({ operator: Operator, value: StringMap });

const TextOperation = Type.Object({
  subPath: Pointer('JSON pointer (RFC 6901) into what the text says'),
  operator: Operator,
  value: Type.Optional(AnyValue),
});

const FieldOverrider = Type.Object({
  fieldPath: Pointer('JSON pointer (RFC 6901) to the text; under data of a Secret to its base64'),
  json: Type.Optional(Type.Array(TextOperation, { description: 'The text is JSON' })),
  yaml: Type.Optional(Type.Array(TextOperation, { description: 'The text is YAML; comments stay' })),
  jsonMergePatch: Type.Optional(MergePatch),
  yamlMergePatch: Type.Optional(MergePatch),
});

const PlaintextOverrider = Type.Object({
  path: Pointer('JSON pointer (RFC 6901)'),
  operator: Type.Enum(['add', 'replace', 'remove', 'move', 'copy', 'test'], {
    description: 'An operation of JSON Patch (RFC 6902)',
  }),
  from: Type.Optional(Pointer('Of move and copy: where from')),
  value: Type.Optional(AnyValue),
});

export const Overriders = Type.Object({
  imageOverrider: Type.Optional(
    Type.Array(ImageOverrider, { description: 'Registry, repository, tag or digest of images' }),
  ),
  commandOverrider: Type.Optional(Type.Array(ContainerOverrider, { description: 'The command of a container' })),
  argsOverrider: Type.Optional(Type.Array(ContainerOverrider, { description: 'The arguments of a container' })),
  labelsOverrider: Type.Optional(Type.Array(MapOverrider, { description: 'Labels of the object' })),
  annotationsOverrider: Type.Optional(Type.Array(MapOverrider, { description: 'Annotations of the object' })),
  fieldOverrider: Type.Optional(Type.Array(FieldOverrider, { description: 'Inside a text that is JSON or YAML' })),
  plaintext: Type.Optional(Type.Array(PlaintextOverrider, { description: 'Any field, by JSON Patch' })),
  mergePatch: Type.Optional(Type.Array(MergePatch, { description: 'Any fields; the last of all' })),
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
