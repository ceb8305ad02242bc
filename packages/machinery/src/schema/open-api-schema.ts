import type { GroupVersionKind } from '../kinds.ts';

export type JsonType = 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';

/**
 * The subset of JSON schema that Kubernetes uses, with its extensions: both the component schemas of an API server's
 * OpenAPI v3 and the `openAPIV3Schema` of a CustomResourceDefinition are of this shape.
 */
export interface OpenApiSchema {
  $ref?: string;
  type?: JsonType;
  format?: string;
  title?: string;
  description?: string;
  default?: unknown;
  example?: unknown;
  enum?: readonly unknown[];
  nullable?: boolean;
  maximum?: number;
  exclusiveMaximum?: boolean;
  minimum?: number;
  exclusiveMinimum?: boolean;
  multipleOf?: number;
  maxLength?: number;
  minLength?: number;
  pattern?: string;
  maxItems?: number;
  minItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
  minProperties?: number;
  required?: readonly string[];
  properties?: Readonly<Record<string, OpenApiSchema>>;
  additionalProperties?: OpenApiSchema | boolean;
  items?: OpenApiSchema;
  allOf?: readonly OpenApiSchema[];
  anyOf?: readonly OpenApiSchema[];
  oneOf?: readonly OpenApiSchema[];
  not?: OpenApiSchema;
  'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-map-type'?: 'granular' | 'atomic';
  'x-kubernetes-patch-merge-key'?: string;
  /** `merge`, `replace`, `retainKeys`; several are separated by commas. */
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-validations'?: readonly CelRule[];
}

/** One CEL rule of `x-kubernetes-validations`. */
export interface CelRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate';
  fieldPath?: string;
  optionalOldSelf?: boolean;
}
