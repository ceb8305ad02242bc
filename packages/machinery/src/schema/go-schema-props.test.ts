import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goSchemaProps, setMembers } from './go-schema-props.ts';

test('a schema is shown with all members of the Go struct, in its order and with its zero values', () => {
  const shown = goSchemaProps({
    type: 'object',
    properties: { b: { type: 'string' }, a: { type: 'array', items: { type: 'string' } } },
    additionalProperties: false,
    'x-kubernetes-validations': [{ rule: 'true' }],
  });
  const text = JSON.stringify(shown);
  assert.match(text, /^\{"ID":"","Schema":"","Ref":null,"Description":"","Type":"object","Nullable":false,/);
  assert.match(text, /"Properties":\{"a":\{.*"Items":\{"Schema":\{.*\},"JSONSchemas":null\}.*\},"b":/);
  assert.match(text, /"AdditionalProperties":\{"Allows":false,"Schema":null\}/);
  assert.match(
    text,
    /"XValidations":\[\{"Rule":"true","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null\}\]\}$/,
  );
});

test('members that are set are told in the order of the struct', () => {
  assert.deepEqual(setMembers({ enum: [1], type: 'object', nullable: false, id: '' }), ['Type', 'Enum']);
});
