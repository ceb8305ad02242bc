// The API of Kubernetes 1.36. The generator chooses these names: the types of all kinds, a constant for each resource, BUILTIN_RESOURCES.
export * from './generated/index.ts';
export type { BuiltinResource } from './builtin-resource.ts';

// Objects
export type {
  Condition,
  FieldsV1,
  Json,
  KubeList,
  KubeObject,
  ListMeta,
  ManagedFieldsEntry,
  ObjectMeta,
  OwnerReference,
  Status,
  StatusReason,
  WatchEvent,
} from './object.ts';
export { findCondition, isConditionTrue, setCondition } from './conditions.ts';
export { meetsNodeRequirement } from './node-requirement.ts';
export { orderedText } from './ordered-text.ts';

// Kinds, resources, their paths and verbs
export {
  formatApiVersion,
  formatGroupResource,
  type GroupVersion,
  type GroupVersionKind,
  type GroupVersionResource,
  objectKey,
  parseApiVersion,
  resourcePath,
  type ResourceType,
  splitKey,
} from './kinds.ts';
export { compareKubeVersions } from './compare-kube-versions.ts';
export { VERB_BY_METHOD } from './verb-by-method.ts';

// Names, labels and annotations
export {
  generateName,
  validateAnnotations,
  validateDns1035Label,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelKey,
  validateLabels,
  validateLabelValue,
  validatePathSegmentName,
  validateQualifiedName,
} from './names.ts';

// Selectors
export { type FieldRequirement, formatFieldSelector, matchesFields, parseFieldSelector } from './field-selector.ts';
export {
  formatLabelSelector,
  type LabelRequirement,
  labelSelectorFromObject,
  matchesLabels,
  parseLabelSelector,
} from './labels.ts';

// Quantities, durations and times
export {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  milliValue,
  parseQuantity,
  type Quantity,
  quantityToNumber,
  subtractQuantities,
} from './quantity.ts';
export { isGoDuration, parseGoDuration } from './go-duration.ts';
export { formatMicroTime, formatTime } from './format-time.ts';
export { isTimeZone } from './time-zone.ts';
export { type CronSchedule, cronScheduleFault, parseCronSchedule } from './cron-schedule.ts';

// Errors, and texts that are safe to show
export {
  alreadyExists,
  badRequest,
  conflict,
  expired,
  failure,
  type FieldError,
  forbidden,
  invalid,
  isStatusError,
  MAX_TOLD_FAULTS,
  notFound,
  type ResourceName,
  StatusError,
  success,
  unauthorized,
} from './status.ts';
export { isAlreadyExists, isConflict, isForbidden, isInvalid, isNotFound, isUnauthorized } from './error-reasons.ts';
export { ifFound } from './if-found.ts';
export { sqliteFault } from './sqlite-fault.ts';
export {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldInvalidJson,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
} from './schema/field-errors.ts';
export { cutForMessage } from './cut-for-message.ts';
export { escapeControls, escapeLine, hasControls } from './escape-controls.ts';
export { seenBefore } from './seen-before.ts';
export { withoutTrailing } from './without-trailing.ts';

// JSON
export { parseJson } from './parse-json.ts';
export { endOfJsonString, readJson } from './read-json.ts';
export { jsonSyntaxFault } from './json-syntax-fault.ts';
export { cloneJson, isJsonObject, ownMember, setMember } from './json-object.ts';
export { deepEqual } from './deep-equal.ts';
export { formatJsonPointer, parseJsonPointer, valueAtPointer } from './json-pointer.ts';
export { compileJsonPath } from './json-path.ts';
export { copyInSteps } from './copy-in-steps.ts';
export { finishSteps, type Steps } from './finish-steps.ts';

// Differences between texts
export { difflibMatches } from './diff/difflib-matches.ts';
export { shortestMatches } from './diff/shortest-matches.ts';
export { unifiedHunks } from './diff/unified-hunks.ts';

// Patches
export { applyJsonPatch, JsonPatchedDocument, type JsonPatchOperation } from './json-patch.ts';
export { applyMergePatch, mergePatchInSteps } from './merge-patch.ts';
export { applyStrategicMergePatch } from './strategic-merge-patch.ts';

// Server-side apply, and the fields that each manager owns
export { applyObject, applyObjectInSteps, type ApplyOptions, type ApplyOutcome } from './apply/apply-object.ts';
export { handOverFields } from './apply/hand-over-fields.ts';
export { managedFieldsAfterScale, managedFieldsOfScale, type ReplicasPaths } from './apply/scale-managed-fields.ts';
export { type UpdateOptions, updateManagedFields, updateManagedFieldsInSteps } from './apply/update-managed-fields.ts';

// Schemas
export type { OpenApiSchema } from './schema/open-api-schema.ts';
export type { StructuralSchema } from './schema/structural-schema.ts';
export { builtinSchemas, objectMetaSchema, schemaOfKind } from './schema/builtin-schemas.ts';
export { customResourceSchema } from './schema/custom-resource-schema.ts';
export { checkStructural } from './schema/check-structural.ts';
export { applyDefaults } from './schema/apply-defaults.ts';
export { findField } from './schema/find-field.ts';
export { findUnknownFields, pruneUnknown } from './schema/unknown-fields.ts';
export { findUnreadable } from './schema/validate-embedded.ts';
export { validateSchema, validateStatusSchema } from './schema/validate-schema.ts';

// Values as Go shows them, and its regular expressions
export {
  escapeHtml,
  formatGoNumber,
  formatGoValue,
  goTypeOf,
  goTypeOfSchema,
  jsonKindOf,
  quoteGo,
} from './schema/go-format.ts';
export { goSchemaProps } from './schema/go-schema-props.ts';
export { compileGoPattern } from './schema/go-regexp.ts';

// Protobuf
export { loadProtobuf, type Protobuf, ProtobufError } from './protobuf/load-protobuf.ts';
export { encodeSwagger } from './protobuf/encode-swagger.ts';
export { inGoOrder, inKeyOrder } from './protobuf/go-field-order.ts';

// Tables
export { type Table, tableFor } from './table/table.ts';
export type { TableColumn, TablePrinter } from './table/table-printer.ts';
export { builtinPrinter } from './table/builtin-printers.ts';
export { customResourcePrinter } from './table/custom-resource-printer.ts';
export { formatAge, translateTimestampSince } from './table/format-age.ts';
