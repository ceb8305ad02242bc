import { parseFieldSelector } from '@asterism/machinery';
import type { AuthorizationAttributes, AuthorizationDecision, Authorizer } from '../../contract/authorizer.ts';
import { serviceAccountUser, type UserInfo } from '../../contract/user-info.ts';
import { BOOL, type CelType, opaqueType, STRING } from '../typing/cel-type.ts';
import type { FunctionLibrary } from '../typing/overload.ts';
import { CelOpaque, type Value } from '../values/value.ts';

const PACKAGE = 'kubernetes.authorization';
export const AUTHORIZER = opaqueType(`${PACKAGE}.Authorizer`);
export const RESOURCE_CHECK = opaqueType(`${PACKAGE}.ResourceCheck`);
const PATH_CHECK = opaqueType(`${PACKAGE}.PathCheck`);
const GROUP_CHECK = opaqueType(`${PACKAGE}.GroupCheck`);
const DECISION = opaqueType(`${PACKAGE}.Decision`);

type Question = Omit<AuthorizationAttributes, 'user'>;

/** Ends an evaluation that needs an answer first: evaluate again when it is there. */
export class AnswerNeeded extends Error {
  readonly answer: Promise<void>;

  constructor(answer: Promise<void>) {
    super('the authorizer has not answered yet');
    this.answer = answer;
  }
}

abstract class Comparable extends CelOpaque {
  equals(other: CelOpaque): boolean {
    return other === this;
  }
}

/** The variable `authorizer`: answers what a user may do. It asks each question once. */
export class CelAuthorizer extends Comparable {
  readonly type = AUTHORIZER;
  readonly #authorizer: Authorizer | undefined;
  readonly #user: UserInfo;
  readonly #answers = new Map<string, CelDecision>();

  constructor(authorizer: Authorizer | undefined, user: UserInfo) {
    super();
    this.#authorizer = authorizer;
    this.#user = user;
  }

  decide(question: Question): CelDecision {
    const key = JSON.stringify(question);
    const known = this.#answers.get(key);
    if (known) return known;
    const remember = (decision: CelDecision): CelDecision => {
      this.#answers.set(key, decision);
      return decision;
    };
    const failed = (error: unknown): CelDecision =>
      remember(new CelDecision(undefined, error instanceof Error ? error.message : String(error)));
    if (!this.#authorizer) return remember(new CelDecision({ allowed: false, reason: 'there is no authorizer' }, ''));
    let answer: ReturnType<Authorizer['authorize']>;
    try {
      answer = this.#authorizer.authorize({ user: this.#user, ...question });
    } catch (error) {
      return failed(error);
    }
    if (!(answer instanceof Promise)) return remember(new CelDecision(answer, ''));
    throw new AnswerNeeded(
      answer.then((decision) => void remember(new CelDecision(decision, '')), failed).then(() => undefined),
    );
  }

  /** Those of a service account have its own answers. */
  as(namespace: string, name: string): CelAuthorizer {
    const username = serviceAccountUser(namespace, name);
    const known = this.#accounts.get(username);
    if (known) return known;
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
    const account = new CelAuthorizer(this.#authorizer, { username, groups });
    this.#accounts.set(username, account);
    return account;
  }

  readonly #accounts = new Map<string, CelAuthorizer>();
}

/** A question without its verb. */
export class CelCheck extends Comparable {
  readonly type: CelType;
  readonly authorizer: CelAuthorizer;
  readonly question: Omit<Question, 'verb'>;

  constructor(type: CelType, authorizer: CelAuthorizer, question: Omit<Question, 'verb'>) {
    super();
    this.type = type;
    this.authorizer = authorizer;
    this.question = question;
  }

  with(more: Partial<Question>, type = this.type): CelCheck {
    return new CelCheck(type, this.authorizer, { ...this.question, ...more });
  }

  check(verb: string): CelDecision {
    return this.authorizer.decide({ ...this.question, verb });
  }
}

class CelDecision extends Comparable {
  readonly type = DECISION;
  readonly allowed: boolean;
  readonly reason: string;
  readonly error: string;

  constructor(decision: AuthorizationDecision | undefined, error: string) {
    super();
    this.allowed = decision?.allowed ?? false;
    this.reason = decision?.reason ?? '';
    this.error = error;
  }
}

/** Upstream's authorizer library (KEP-3488): https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-authorizer-library */
export function defineAuthorizer(library: FunctionLibrary): void {
  const method = <Receiver>(
    receiver: CelType,
    name: string,
    result: CelType,
    run: (receiver: Receiver, ...texts: string[]) => Value,
  ): void => {
    const params = [receiver, ...Array.from({ length: run.length - 1 }, () => STRING)];
    const id = `${(receiver as { name: string }).name.slice(PACKAGE.length + 1).toLowerCase()}_${name}`;
    library.method(name, id, params, result, ([on, ...texts]: readonly [Receiver, ...string[]]) => run(on, ...texts));
  };
  method(AUTHORIZER, 'path', PATH_CHECK, (on: CelAuthorizer, path) => new CelCheck(PATH_CHECK, on, { path: path! }));
  method(
    AUTHORIZER,
    'group',
    GROUP_CHECK,
    (on: CelAuthorizer, group) => new CelCheck(GROUP_CHECK, on, { group: group! }),
  );
  method(AUTHORIZER, 'serviceAccount', AUTHORIZER, (on: CelAuthorizer, namespace, name) => on.as(namespace!, name!));
  method(GROUP_CHECK, 'resource', RESOURCE_CHECK, (on: CelCheck, resource) =>
    on.with({ version: '*', resource: resource! }, RESOURCE_CHECK),
  );
  for (const field of ['subresource', 'namespace', 'name']) {
    method(RESOURCE_CHECK, field, RESOURCE_CHECK, (on: CelCheck, value) => on.with({ [field]: value! }));
  }
  method(RESOURCE_CHECK, 'fieldSelector', RESOURCE_CHECK, (on: CelCheck, selector) => withFieldSelector(on, selector!));
  // Authorizers do not know label selectors: without one a question is about more, so that the answer is never too generous.
  method(RESOURCE_CHECK, 'labelSelector', RESOURCE_CHECK, (on: CelCheck, _selector) => on);
  for (const check of [PATH_CHECK, RESOURCE_CHECK]) {
    method(check, 'check', DECISION, (on: CelCheck, verb) => on.check(verb!));
  }
  method(DECISION, 'allowed', BOOL, ({ allowed }: CelDecision) => allowed);
  method(DECISION, 'reason', STRING, ({ reason }: CelDecision) => reason);
  method(DECISION, 'errored', BOOL, ({ error }: CelDecision) => error !== '');
  method(DECISION, 'error', STRING, ({ error }: CelDecision) => error);
}

/** A selector that cannot be read is left out, which asks about more. */
function withFieldSelector(check: CelCheck, selector: string): CelCheck {
  try {
    return check.with({ fieldSelector: parseFieldSelector(selector) });
  } catch {
    return check;
  }
}
