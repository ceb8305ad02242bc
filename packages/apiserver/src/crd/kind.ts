import type { FieldError, KubeObject } from '@asterism/machinery';
import {
  CLEANUP_FINALIZER,
  type CustomResourceDefinition,
  type DefinitionVersion,
  withCondition,
} from './custom-resource-definition.ts';
import { schemasWithin } from './schemas-within.ts';
import { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from './validate-definition.ts';
import { validateDefinitionName } from './validate-definition-names.ts';
import type { Kind } from '../contract/kind.ts';
import type { Draft } from '../contract/strategy.ts';

/** How CustomResourceDefinitions themselves are written. What follows from them is `CustomResources`' work. */
export const customResourceDefinitionKind: Kind = {
  groupResource: 'customresourcedefinitions.apiextensions.k8s.io',
  strategy: {
    generation: 'spec',
    requiresResourceVersion: true,
    allowsAnyFinalizer: true,

    applyDefaults(draft) {
      const definition = draft as Draft & CustomResourceDefinition;
      const spec = (definition.spec ??= {});
      const names = (spec.names ??= {});
      if (names.kind) {
        names.singular ||= names.kind.toLowerCase();
        names.listKind ||= `${names.kind}List`;
      }
      spec.conversion ??= { strategy: 'None' };
      const { webhook } = spec.conversion;
      const { service } = webhook?.clientConfig ?? {};
      if (service) service.port ??= 443;
      if (webhook && !webhook.clientConfig && !webhook.conversionReviewVersions) delete spec.conversion.webhook;
    },

    prepareForCreate(draft) {
      const definition = draft as Draft & CustomResourceDefinition;
      const storage = definition.spec?.versions?.find((version) => version.storage)?.name;
      definition.status = {
        conditions: null,
        acceptedNames: { plural: '', kind: '' },
        storedVersions: storage === undefined ? null : [storage],
      };
    },

    prepareForUpdate(draft) {
      const { spec, status } = draft as Draft & CustomResourceDefinition;
      const storage = spec?.versions?.find((version) => version.storage)?.name;
      const stored = status?.storedVersions ?? [];
      if (storage === undefined || stored.includes(storage)) return;
      draft.status = { ...status, storedVersions: [...stored, storage] };
    },

    validateCreate(object: KubeObject): FieldError[] {
      const definition = object as CustomResourceDefinition;
      return [...validateDefinitionName(definition), ...validateDefinition(definition)];
    },
    validateUpdate: (object: KubeObject, old: KubeObject): FieldError[] =>
      validateDefinitionUpdate(object as CustomResourceDefinition, old as CustomResourceDefinition),
    validateStatus: (object: KubeObject): FieldError[] => validateDefinitionStatus(object as CustomResourceDefinition),

    markDeletion(draft, { now }) {
      const definition = draft as Draft & CustomResourceDefinition;
      if (definition.metadata.deletionTimestamp) return 'usual';
      definition.metadata.deletionTimestamp = now;
      const finalizers = definition.metadata.finalizers ?? [];
      definition.metadata.finalizers = finalizers.includes(CLEANUP_FINALIZER)
        ? finalizers
        : [...finalizers, CLEANUP_FINALIZER];
      const conditions = withCondition(definition.status?.conditions ?? [], {
        type: 'Terminating',
        status: 'True',
        lastTransitionTime: now,
        reason: 'InstanceDeletionPending',
        message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
      });
      definition.status = { ...definition.status, conditions };
      return 'marked';
    },

    warnings(object: KubeObject): string[] {
      const { conversion, versions } = (object as CustomResourceDefinition).spec ?? {};
      const warnings = (versions ?? []).flatMap((version) => [...unenforcedRules(version), ...unknownFormats(version)]);
      if (conversion?.strategy === 'Webhook') {
        warnings.push('spec.conversion: webhooks are not called by this server: versions differ in apiVersion only');
      }
      return warnings;
    },
  },
};

/** Formats that a value is checked against; others are legal, and mean nothing. */
const KNOWN_FORMATS = new Set([
  'bsonobjectid',
  'uri',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'cidr',
  'mac',
  'uuid',
  'uuid3',
  'uuid4',
  'uuid5',
  'isbn',
  'isbn10',
  'isbn13',
  'creditcard',
  'ssn',
  'hexcolor',
  'rgbcolor',
  'byte',
  'password',
  'date',
  'duration',
  'datetime',
  'date-time',
  'int32',
  'int64',
  'float',
  'double',
  'k8s-short-name',
  'k8s-long-name',
]);

function unknownFormats({ schema }: DefinitionVersion): string[] {
  const unknown = new Set<string>();
  for (const { format } of schemasWithin(schema?.openAPIV3Schema)) {
    if (format && !KNOWN_FORMATS.has(format)) unknown.add(format);
  }
  return [...unknown].map((format) => `unrecognized format ${JSON.stringify(format)}`);
}

/** Warns about each part of a schema that this server does not enforce. */
function unenforcedRules({ name, schema }: DefinitionVersion): string[] {
  if (!schemasWithin(schema?.openAPIV3Schema).some((each) => each['x-kubernetes-validations'] !== undefined)) return [];
  return [
    `spec.versions[${name}].schema: CEL rules (x-kubernetes-validations) are stored but not enforced by this server`,
  ];
}
