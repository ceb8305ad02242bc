import type { Environment } from '@marcbachmann/cel-js';
import type { AuthorizationAttributes, Authorizer } from '../contract/authorizer.ts';
import { serviceAccountUser, type UserInfo } from '../contract/user-info.ts';

const TYPE = 'kubernetes.authorization';

/** The variable `authorizer` of an expression: what may be asked of it, and about whom. */
export class CelAuthorizer {
  readonly authorizer: Authorizer | undefined;
  readonly user: UserInfo;
  /** What the request is about, as `authorizer.requestResource` has it. */
  readonly requestResource: CelResourceCheck;

  constructor(
    authorizer: Authorizer | undefined,
    user: UserInfo,
    request: Omit<AuthorizationAttributes, 'user' | 'verb'>,
  ) {
    this.authorizer = authorizer;
    this.user = user;
    this.requestResource = new CelResourceCheck(this, request);
  }

  async decide(attributes: Omit<AuthorizationAttributes, 'user'>): Promise<CelDecision> {
    if (this.authorizer === undefined) return new CelDecision(false, 'there is no authorizer', '');
    try {
      const { allowed, reason } = await this.authorizer.authorize({ user: this.user, ...attributes });
      return new CelDecision(allowed, reason, '');
    } catch (error) {
      return new CelDecision(false, '', error instanceof Error ? error.message : String(error));
    }
  }
}

class CelPathCheck {
  readonly owner: CelAuthorizer;
  readonly path: string;

  constructor(owner: CelAuthorizer, path: string) {
    this.owner = owner;
    this.path = path;
  }
}

class CelGroupCheck {
  readonly owner: CelAuthorizer;
  readonly group: string;

  constructor(owner: CelAuthorizer, group: string) {
    this.owner = owner;
    this.group = group;
  }
}

type ResourceAttributes = Omit<AuthorizationAttributes, 'user' | 'verb'>;

export class CelResourceCheck {
  readonly owner: CelAuthorizer;
  readonly attributes: ResourceAttributes;

  constructor(owner: CelAuthorizer, attributes: ResourceAttributes) {
    this.owner = owner;
    this.attributes = attributes;
  }

  with(more: Partial<ResourceAttributes>): CelResourceCheck {
    return new CelResourceCheck(this.owner, { ...this.attributes, ...more });
  }
}

class CelDecision {
  readonly allowed: boolean;
  readonly reason: string;
  readonly error: string;

  constructor(allowed: boolean, reason: string, error: string) {
    this.allowed = allowed;
    this.reason = reason;
    this.error = error;
  }
}

/** Upstream's authorizer library (KEP-3488): https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-authorizer-library */
export function registerAuthorizer(environment: Environment): void {
  const types = { PathCheck: CelPathCheck, GroupCheck: CelGroupCheck, Decision: CelDecision };
  for (const [name, ctor] of Object.entries(types)) environment.registerType(`${TYPE}.${name}`, { ctor, fields: {} });
  environment.registerType(`${TYPE}.ResourceCheck`, { ctor: CelResourceCheck, fields: {} });
  environment.registerType(`${TYPE}.Authorizer`, {
    ctor: CelAuthorizer,
    fields: { requestResource: `${TYPE}.ResourceCheck` },
  });
  const method = <Receiver>(
    receiver: string,
    name: string,
    returnType: string,
    handler: (receiver: Receiver, ...texts: string[]) => unknown,
  ): void => {
    const params = Array.from({ length: handler.length - 1 }, () => ({ type: 'string' }));
    const isAsync = name === 'check';
    const receiverType = `${TYPE}.${receiver}`;
    environment.registerFunction({ name, receiverType, returnType, params, handler, async: isAsync });
  };
  method('Authorizer', 'path', `${TYPE}.PathCheck`, (owner: CelAuthorizer, path) => new CelPathCheck(owner, path!));
  method(
    'Authorizer',
    'group',
    `${TYPE}.GroupCheck`,
    (owner: CelAuthorizer, group) => new CelGroupCheck(owner, group!),
  );
  method('Authorizer', 'serviceAccount', `${TYPE}.Authorizer`, (owner: CelAuthorizer, namespace, name) =>
    asServiceAccount(owner, namespace!, name!),
  );
  method('PathCheck', 'check', `${TYPE}.Decision`, ({ owner, path }: CelPathCheck, verb) =>
    owner.decide({ path, verb: verb! }),
  );
  method(
    'GroupCheck',
    'resource',
    `${TYPE}.ResourceCheck`,
    ({ owner, group }: CelGroupCheck, resource) =>
      new CelResourceCheck(owner, { group, version: '*', resource: resource! }),
  );
  for (const field of ['subresource', 'namespace', 'name']) {
    method('ResourceCheck', field, `${TYPE}.ResourceCheck`, (check: CelResourceCheck, value) =>
      check.with({ [field]: value! }),
    );
  }
  method('ResourceCheck', 'check', `${TYPE}.Decision`, ({ owner, attributes }: CelResourceCheck, verb) =>
    owner.decide({ ...attributes, verb: verb! }),
  );
  method('Decision', 'allowed', 'bool', (decision: CelDecision) => decision.allowed);
  method('Decision', 'reason', 'string', (decision: CelDecision) => decision.reason);
  method('Decision', 'errored', 'bool', (decision: CelDecision) => decision.error !== '');
  method('Decision', 'error', 'string', (decision: CelDecision) => decision.error);
}

function asServiceAccount(owner: CelAuthorizer, namespace: string, name: string): CelAuthorizer {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  const user = { username: serviceAccountUser(namespace, name), groups };
  return new CelAuthorizer(owner.authorizer, user, owner.requestResource.attributes);
}
