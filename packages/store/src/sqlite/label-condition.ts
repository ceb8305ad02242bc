import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { LabelOperator, LabelRequirement } from '../query/query.ts';

const NEGATED: ReadonlySet<LabelOperator> = new Set(['!=', 'notin', '!exists']);

/** The condition on the labels of the object with this id. Both directions are read from the index on key and value. */
export function labelCondition(
  { key, operator, values }: LabelRequirement,
  id: RawBuilder<unknown>,
): RawBuilder<SqlBool> {
  const fitting = sql`select object_id from label where key = ${key} and ${valueCondition(operator, values)}`;
  return NEGATED.has(operator) ? sql`${id} not in (${fitting})` : sql`${id} in (${fitting})`;
}

function valueCondition(operator: LabelOperator, values: readonly string[]): RawBuilder<unknown> {
  switch (operator) {
    case 'exists':
    case '!exists':
      return sql`true`;
    case 'gt':
      return sql`${IS_INTEGER} and cast(value as integer) > cast(${values[0]} as integer)`;
    case 'lt':
      return sql`${IS_INTEGER} and cast(value as integer) < cast(${values[0]} as integer)`;
    default:
      return sql`value in (select value from json_each(${JSON.stringify(values)}))`;
  }
}

/** Digits, with or without a minus before them. A cast takes whatever digits a text begins with. */
const IS_INTEGER = sql`(value glob '[0-9]*' or value glob '-[0-9]*') and substr(value, 2) not glob '*[^0-9]*'`;
