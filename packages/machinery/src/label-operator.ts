/** As in the text of a selector, where `exists` is `key` and `notexists` is `!key`. */
export type LabelOperator = '=' | '!=' | 'in' | 'notin' | 'exists' | 'notexists' | '>' | '<';

export const INTEGER = /^[+-]?\d+$/;

/** Whether a value, undefined for none, is as `operator` and its values ask. What is no integer is neither more nor less than another. */
export function holds(operator: LabelOperator, value: string | undefined, values: readonly string[]): boolean {
  switch (operator) {
    case '=':
    case 'in':
      return value !== undefined && values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !values.includes(value);
    case 'exists':
      return value !== undefined;
    case 'notexists':
      return value === undefined;
    case '>':
    case '<': {
      const bound = values[0];
      if (value === undefined || bound === undefined || !INTEGER.test(value) || !INTEGER.test(bound)) return false;
      return operator === '>' ? BigInt(value) > BigInt(bound) : BigInt(value) < BigInt(bound);
    }
  }
}
