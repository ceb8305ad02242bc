import { type CelVariables, type CelProgram, compileProgram } from './cel-program.ts';
import { AUTHORIZER, RESOURCE_CHECK } from './library/authorizer.ts';
import { createLibrary, NAMED_TYPES } from './library/kubernetes-library.ts';
import { BOOL, type CelType, DYN, listOf, mapOf, objectType, STRING } from './typing/cel-type.ts';
import type { Declarations } from './typing/checker.ts';

/** A compiled expression that is true or false. */
export interface CelCondition {
  /**
   * @param limit the cost at which the evaluation ends.
   * @returns the value, and the cost of it.
   * @throws Error with the reason in upstream's words: `no such key: x`.
   */
  evaluate(variables: CelVariables, limit?: number): Promise<{ value: boolean; cost: number }>;
}

export type CompiledCondition =
  | { condition: CelCondition; fault?: undefined }
  | { condition?: undefined; fault: string };

/** The cost limit of one expression, in upstream's units: some 100 ms. */
export const EXPRESSION_LIMIT = 1_000_000;

const KIND = { group: STRING, version: STRING, kind: STRING };
const RESOURCE = { group: STRING, version: STRING, resource: STRING };
const USER_INFO = { username: STRING, uid: STRING, groups: listOf(STRING), extra: mapOf(STRING, listOf(STRING)) };

/** The type of the variable `request`: an AdmissionRequest without its objects. */
export const ADMISSION_REQUEST: CelType = objectType('kubernetes.AdmissionRequest', {
  kind: objectType('kubernetes.GroupVersionKind', KIND),
  resource: objectType('kubernetes.GroupVersionResource', RESOURCE),
  subResource: STRING,
  requestKind: objectType('kubernetes.GroupVersionKind', KIND),
  requestResource: objectType('kubernetes.GroupVersionResource', RESOURCE),
  requestSubResource: STRING,
  name: STRING,
  namespace: STRING,
  operation: STRING,
  userInfo: objectType('kubernetes.UserInfo', USER_INFO),
  dryRun: BOOL,
  options: DYN,
});

/** Where conditions of admission are compiled: the variables `object`, `oldObject`, `request` and `authorizer`. */
export class CelEnvironment {
  readonly #declarations: Declarations = {
    functions: createLibrary(),
    types: NAMED_TYPES,
    variables: new Map([
      ['object', DYN],
      ['oldObject', DYN],
      ['request', ADMISSION_REQUEST],
      ['authorizer', AUTHORIZER],
      ['authorizer.requestResource', RESOURCE_CHECK],
    ]),
  };

  /** `fault` is what upstream says where it cannot be compiled, or is neither true nor false. */
  compile(expression: string): CompiledCondition {
    const { program, fault } = compileProgram(expression, this.#declarations);
    if (fault !== undefined) return { fault };
    if (program.type.kind !== 'bool') return { fault: 'must evaluate to bool' };
    return { condition: { evaluate: (variables, limit) => evaluate(program, variables, limit) } };
  }
}

async function evaluate(
  program: CelProgram,
  variables: CelVariables,
  limit = EXPRESSION_LIMIT,
): Promise<{ value: boolean; cost: number }> {
  const { value, cost } = await program.evaluate(variables, limit);
  return { value: value === true, cost };
}
