import type { FieldError } from '../status.ts';
import { fieldInvalid, fieldNotSupported, fieldRequired } from './field-errors.ts';
import { findField } from './find-field.ts';
import type { CelRule, OpenApiSchema } from './open-api-schema.ts';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** Faults in the form of a node's `x-kubernetes-validations`; the expressions themselves are not compiled. */
export function checkCelRules(schema: OpenApiSchema, path: string): FieldError[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  return rules.flatMap((rule, i) => checkRule(rule, schema, `${path}.x-kubernetes-validations[${i}]`));
}

function checkRule(rule: CelRule, schema: OpenApiSchema, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { message = '', messageExpression = '', fieldPath = '' } = rule;
  const text = (rule.rule ?? '').trim();
  if (text === '') {
    errors.push(fieldRequired(`${path}.rule`, 'rule is not specified'));
  } else if (message !== '' && message.trim() === '') {
    errors.push(fieldInvalid(`${path}.message`, message, 'must be non-empty if specified'));
  } else if (hasLineBreak(message.trim())) {
    errors.push(fieldInvalid(`${path}.message`, message, 'must not contain line breaks'));
  } else if (hasLineBreak(text) && message.trim() === '') {
    errors.push(fieldRequired(`${path}.message`, 'message must be specified if rule contains line breaks'));
  }
  if (messageExpression !== '' && messageExpression.trim() === '') {
    errors.push(fieldRequired(`${path}.messageExpression`, 'messageExpression must be non-empty if specified'));
  }
  if (rule.reason !== undefined && !REASONS.includes(rule.reason)) {
    errors.push(fieldNotSupported(`${path}.reason`, rule.reason, REASONS));
  }
  if (fieldPath !== '') errors.push(...checkFieldPath(fieldPath, schema, `${path}.fieldPath`));
  return errors;
}

function checkFieldPath(fieldPath: string, schema: OpenApiSchema, field: string): FieldError[] {
  const errors: FieldError[] = [];
  if (fieldPath.trim() === '') errors.push(fieldInvalid(field, fieldPath, 'must be non-empty if specified'));
  if (hasLineBreak(fieldPath)) errors.push(fieldInvalid(field, fieldPath, 'must not contain line breaks'));
  if ('fault' in findField(fieldPath, schema)) errors.push(fieldInvalid(field, fieldPath, 'must be a valid path'));
  return errors;
}

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}
