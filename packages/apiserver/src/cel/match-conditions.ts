import { isJsonObject, type KubeObject, type MatchCondition } from '@asterism/machinery';
import type { Authorizer } from '../contract/authorizer.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { ADMISSION_REQUEST, CelEnvironment, type CompiledCondition, EXPRESSION_LIMIT } from './cel-environment.ts';
import { type CelVariables, CostExceeded } from './cel-program.ts';
import { CelAuthorizer, CelCheck, RESOURCE_CHECK } from './library/authorizer.ts';
import { celValue } from './values/json-value.ts';
import type { Value } from './values/value.ts';

/** The cost limit of all conditions of a webhook together, as upstream has it. */
const TOTAL_LIMIT = 2_500_000;

/** The request that conditions are evaluated for. */
export interface ConditionInput {
  object: KubeObject | undefined;
  oldObject: KubeObject | undefined;
  /** The fields of an AdmissionRequest but for its objects. */
  request: Readonly<Record<string, unknown>>;
  authorizer: Authorizer | undefined;
  user: UserInfo;
}

export interface ConditionOutcome {
  /** One of them is false. */
  isFalse: boolean;
  /** Of those that could not be evaluated, in upstream's words. */
  faults: string[];
}

/** The match conditions of a webhook, compiled once. */
export class CompiledConditions {
  readonly #conditions: readonly { expression: string; compiled: CompiledCondition }[];

  constructor(conditions: readonly MatchCondition[]) {
    const environment = new CelEnvironment();
    this.#conditions = conditions.map(({ expression }) => ({ expression, compiled: environment.compile(expression) }));
  }

  async evaluate(input: ConditionInput): Promise<ConditionOutcome> {
    const variables = variablesOf(input);
    const faults: string[] = [];
    let left = TOTAL_LIMIT;
    for (const { expression, compiled } of this.#conditions) {
      if (compiled.fault !== undefined) {
        faults.push(compiled.fault);
        continue;
      }
      if (left <= 0) {
        faults.push('validation failed due to running out of cost budget, no further validation rules will be run');
        break;
      }
      try {
        const { value, cost } = await compiled.condition.evaluate(variables, Math.min(left, EXPRESSION_LIMIT));
        left -= cost;
        if (!value) return { isFalse: true, faults };
      } catch (error) {
        if (error instanceof CostExceeded) left -= EXPRESSION_LIMIT;
        faults.push(`expression '${expression}' resulted in error: ${(error as Error).message}`);
      }
    }
    return { isFalse: false, faults };
  }
}

function variablesOf({ object, oldObject, request, authorizer, user }: ConditionInput): CelVariables {
  const asked = new CelAuthorizer(authorizer, user);
  return new Map<string, Value>([
    ['object', celValue(object)],
    ['oldObject', celValue(oldObject)],
    ['request', celValue(request, ADMISSION_REQUEST)],
    ['authorizer', asked],
    ['authorizer.requestResource', new CelCheck(RESOURCE_CHECK, asked, attributesOf(request))],
  ]);
}

/** The request's attributes, as authorization sees them. */
function attributesOf(request: Readonly<Record<string, unknown>>): CelCheck['question'] {
  const { requestResource } = request;
  const {
    group = '',
    version = '',
    resource = '',
  } = (isJsonObject(requestResource) ? requestResource : {}) as Record<string, string>;
  const text = (key: string): string => (request[key] as string | undefined) ?? '';
  return {
    group,
    version,
    resource,
    subresource: text('requestSubResource'),
    namespace: text('namespace'),
    name: text('name'),
  };
}
