import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { CheckedFieldRequirement } from '../query/check-query.ts';
import type { FieldPath } from '../query/field-path.ts';
import type { FieldOperator } from '../query/query.ts';

type Sql = RawBuilder<unknown>;
type Condition = RawBuilder<SqlBool>;

/** An operator by what has to fit, and whether nothing may. */
const MEANINGS: Readonly<Record<FieldOperator, { fits: 'in' | 'exists' | '<' | '<=' | '>' | '>='; negated?: true }>> = {
  '=': { fits: 'in' },
  '!=': { fits: 'in', negated: true },
  in: { fits: 'in' },
  notin: { fits: 'in', negated: true },
  exists: { fits: 'exists' },
  '!exists': { fits: 'exists', negated: true },
  '<': { fits: '<' },
  '<=': { fits: '<=' },
  '>': { fits: '>' },
  '>=': { fits: '>=' },
};

/** The numbers of JSON: what SQLite reads as the same number from an object. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The condition on `object`, the text of a JSON object. */
export function fieldCondition({ path, operator, values }: CheckedFieldRequirement, object: Sql): Condition {
  const { fits, negated } = MEANINGS[operator];
  const { type, value, from } = valuesAt(path, object);
  const fitting =
    fits === 'exists' ? exists(type) : fits === 'in' ? isIn(type, value, values) : compares(fits, type, value, values);
  const found = from
    ? sql<SqlBool>`exists (select 1 from ${from} where ${fitting})`
    : sql<SqlBool>`ifnull(${fitting}, 0)`;
  return negated ? sql<SqlBool>`not ${found}` : found;
}

interface Values {
  /** In SQLite's words: null, true, false, integer, real, text, array, object; NULL where there is nothing. */
  type: Sql;
  value: Sql;
  /** Gives a row for each value; absent for a path that finds one at most. */
  from?: Sql;
}

/** What a path finds: for each `[]` the elements of an array, and the rest of the path in each of these. */
function valuesAt(path: FieldPath, object: Sql): Values {
  const [first = '$', ...others] = jsonPaths(path);
  if (others.length === 0)
    return { type: sql`json_type(${object}, ${first})`, value: sql`json_extract(${object}, ${first})` };
  const tables: Sql[] = [];
  let within = object;
  let steps = first;
  let last: Values = { type: sql`null`, value: sql`null` };
  for (const [depth, next] of others.entries()) {
    const element = (column: string): Sql => sql.ref(`element${depth}.${column}`);
    tables.push(sql`json_each(${onlyOf('array', within, steps)}, ${steps}) as ${sql.ref(`element${depth}`)}`);
    // A text is no JSON, and json_type of what is none is an error.
    within = sql`case when ${element('type')} in ('object', 'array') then ${element('value')} end`;
    steps = next;
    last = next === '$' ? { type: element('type'), value: element('atom') } : valueIn(within, next);
  }
  return { ...last, from: sql.join(tables, sql` cross join `) };
}

function valueIn(json: Sql, path: string): Values {
  return { type: sql`json_type(${json}, ${path})`, value: sql`json_extract(${json}, ${path})` };
}

/** The JSON where the path finds this type in it, else NULL. `json_each` would also go through the members of an object. */
function onlyOf(type: 'array', json: Sql, path: string): Sql {
  return sql`case json_type(${json}, ${path}) when ${sql.lit(type)} then ${json} end`;
}

/** SQLite's paths: one up to each `[]`, and one behind the last. */
function jsonPaths(path: FieldPath): string[] {
  const paths = ['$'];
  for (const segment of path) {
    if ('each' in segment) paths.push('$');
    else paths.push(`${paths.pop()}${'key' in segment ? `.${JSON.stringify(segment.key)}` : `[${segment.index}]`}`);
  }
  return paths;
}

function exists(type: Sql): Condition {
  return sql<SqlBool>`${type} <> 'null'`;
}

function isIn(type: Sql, value: Sql, wanted: readonly string[]): Condition {
  const texts = JSON.stringify(wanted);
  const numbers = `[${wanted.filter((text) => NUMBER.test(text)).join(',')}]`;
  return sql<SqlBool>`case ${type}
    when 'text' then ${value} in (select value from json_each(${texts}))
    when 'integer' then ${value} in (select value from json_each(${numbers}))
    when 'real' then ${value} in (select value from json_each(${numbers}))
    when 'true' then ${wanted.includes('true') ? 1 : 0}
    when 'false' then ${wanted.includes('false') ? 1 : 0}
  end`;
}

function compares(
  operator: '<' | '<=' | '>' | '>=',
  type: Sql,
  value: Sql,
  [wanted = '']: readonly string[],
): Condition {
  const than = (bound: Sql): Sql => sql`${value} ${sql.raw(operator)} ${bound}`;
  const number = NUMBER.test(wanted) ? than(sql`(${`[${wanted}]`} ->> 0)`) : sql`0`;
  const boolean = wanted === 'true' || wanted === 'false' ? than(sql.lit(wanted === 'true' ? 1 : 0)) : sql`0`;
  return sql<SqlBool>`case ${type}
    when 'text' then ${than(sql`${wanted}`)}
    when 'integer' then ${number}
    when 'real' then ${number}
    when 'true' then ${boolean}
    when 'false' then ${boolean}
  end`;
}
