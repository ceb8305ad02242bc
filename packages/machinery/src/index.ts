export * from './builtin-resource.ts';
export * from './compare-kube-versions.ts';
export * from './conditions.ts';
export * from './copy-in-steps.ts';
export { cronScheduleFault, type CronSchedule, parseCronSchedule } from './cron-schedule.ts';
export * from './cut-for-message.ts';
export * from './deep-equal.ts';
export { difflibMatches } from './diff/difflib-matches.ts';
export { shortestMatches } from './diff/shortest-matches.ts';
export { unifiedHunks } from './diff/unified-hunks.ts';
export * from './error-reasons.ts';
export * from './if-found.ts';
export * from './field-selector.ts';
export * from './finish-steps.ts';
export * from './generated/index.ts';
export { formatMicroTime, formatTime } from './format-time.ts';
export * from './go-duration.ts';
export * from './json-object.ts';
export * from './json-patch.ts';
export * from './json-path.ts';
export * from './json-pointer.ts';
export * from './json-syntax-fault.ts';
export * from './kinds.ts';
export * from './labels.ts';
export * from './merge-patch.ts';
export * from './names.ts';
export * from './node-requirement.ts';
export * from './object.ts';
export * from './ordered-text.ts';
export * from './parse-json.ts';
export * from './quantity.ts';
export * from './escape-controls.ts';
export * from './read-json.ts';
export * from './status.ts';
export * from './seen-before.ts';
export { type SqliteFault, sqliteFault } from './sqlite-fault.ts';
export * from './without-trailing.ts';
export { builtinPrinter } from './table/builtin-printers.ts';
export { customResourcePrinter } from './table/custom-resource-printer.ts';
export { formatAge, translateTimestampSince } from './table/format-age.ts';
export { type Table, type TableOptions, tableFor } from './table/table.ts';
export type { TableColumn, TablePrinter, TableRow, TableRowCondition } from './table/table-printer.ts';
// schema, apply, protobuf
export * from './apply/apply-object.ts';
export { type HandOver, handOverFields } from './apply/hand-over-fields.ts';
export type { FieldTracking, ObjectVersion } from './apply/field-updater.ts';
export * from './apply/revert-time-changes.ts';
export * from './apply/scale-managed-fields.ts';
export { type UpdateOptions, updateManagedFields, updateManagedFieldsInSteps } from './apply/update-managed-fields.ts';
export { encodeSwagger } from './protobuf/encode-swagger.ts';
export { inGoOrder, inKeyOrder } from './protobuf/go-field-order.ts';
export * from './protobuf/load-protobuf.ts';
export * from './schema/apply-defaults.ts';
export * from './schema/builtin-schemas.ts';
export * from './schema/check-structural.ts';
export * from './schema/custom-resource-schema.ts';
export * from './schema/decoding-error.ts';
export * from './schema/field-errors.ts';
export * from './schema/find-field.ts';
export { compileGoPattern } from './schema/go-regexp.ts';
export * from './schema/go-schema-props.ts';
export {
  escapeHtml,
  formatGoNumber,
  formatGoValue,
  goTypeOf,
  goTypeOfSchema,
  jsonKindOf,
  quoteGo,
} from './schema/go-format.ts';
export * from './schema/open-api-schema.ts';
export * from './schema/structural-schema.ts';
export * from './schema/unknown-fields.ts';
export { findUnreadable } from './schema/validate-embedded.ts';
export * from './schema/validate-schema.ts';
export * from './strategic-merge-patch.ts';
export { isTimeZone } from './time-zone.ts';
export * from './verb-by-method.ts';
