import { isJsonObject, type KubeObject, type MatchCondition } from '@asterism/machinery';
import type { Authorizer } from '../contract/authorizer.ts';
import type { UserInfo } from '../contract/user-info.ts';
import { CelAuthorizer } from './cel-authorizer.ts';
import { CelEnvironment, type CelVariables, type CompiledCondition } from './cel-environment.ts';
import { celMap, celValue } from './cel-value.ts';

/** What conditions are asked about. */
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
    for (const { expression, compiled } of this.#conditions) {
      if (compiled.fault !== undefined) {
        faults.push(compiled.fault);
        continue;
      }
      try {
        if (!(await compiled.condition.evaluate(variables))) return { isFalse: true, faults };
      } catch (error) {
        faults.push(`expression '${expression}' resulted in error: ${(error as Error).message}`);
      }
    }
    return { isFalse: false, faults };
  }
}

function variablesOf({ object, oldObject, request, authorizer, user }: ConditionInput): CelVariables {
  const { options, userInfo } = request;
  return {
    object: celValue(object),
    oldObject: celValue(oldObject),
    request: {
      ...request,
      ...(options === undefined ? {} : { options: celValue(options) }),
      ...(isJsonObject(userInfo) ? { userInfo: withExtra(userInfo) } : {}),
    },
    authorizer: new CelAuthorizer(authorizer, user, attributesOf(request)),
  };
}

function withExtra({ extra, ...user }: Record<string, unknown>): Record<string, unknown> {
  return isJsonObject(extra) ? { ...user, extra: celMap(extra) } : user;
}

/** What the request is about, as authorization sees it. */
function attributesOf(request: Readonly<Record<string, unknown>>): ConstructorParameters<typeof CelAuthorizer>[2] {
  const { group, version, resource } = request['requestResource'] as Record<string, string>;
  const text = (key: string): string => (request[key] as string | undefined) ?? '';
  return {
    group: group ?? '',
    version: version ?? '',
    resource: resource ?? '',
    subresource: text('requestSubResource'),
    namespace: text('namespace'),
    name: text('name'),
  };
}
