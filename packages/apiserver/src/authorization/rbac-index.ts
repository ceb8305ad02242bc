import type { UserInfo } from '../authentication/user-info.ts';
import type { PolicyRule } from './policy-rule.ts';

export interface RoleRef {
  kind: string;
  name: string;
}

export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
}

export interface RoleObject {
  metadata?: { name?: string; namespace?: string };
  rules?: PolicyRule[] | null;
}

export interface BindingObject {
  metadata?: { name?: string; namespace?: string };
  subjects?: Subject[] | null;
  roleRef: RoleRef;
}

/** A binding as one subject sees it. */
export interface SubjectBinding {
  /** '' for a ClusterRoleBinding, which holds everywhere. */
  namespace: string;
  name: string;
  roleRef: RoleRef;
  subject: Subject;
}

/**
 * Roles and bindings in memory, found by who is bound and where: a decision looks at the bindings of one user and his groups that
 * hold in its namespace, however many others there are.
 */
export class RbacIndex {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  /** Keys of the subjects that a binding has, to take it out again. */
  readonly #subjectsOf = new Map<string, string[]>();
  /** By the namespace in which they hold ('' for everywhere), then by the subject, then by their own keys. */
  readonly #byScope = new Map<string, Map<string, Map<string, SubjectBinding>>>();

  setRole({ metadata = {}, rules }: RoleObject): void {
    this.#roles.set(roleKey(metadata.namespace ?? '', metadata.name ?? ''), rules ?? []);
  }

  deleteRole({ metadata = {} }: Pick<RoleObject, 'metadata'>): void {
    this.#roles.delete(roleKey(metadata.namespace ?? '', metadata.name ?? ''));
  }

  setBinding(binding: BindingObject): void {
    this.deleteBinding(binding);
    const { name = '', namespace = '' } = binding.metadata ?? {};
    const key = roleKey(namespace, name);
    const subjects = binding.subjects ?? [];
    this.#subjectsOf.set(
      key,
      subjects.map((subject) => subjectKey(subject, namespace)),
    );
    if (subjects.length === 0) return;
    const bySubject = this.#byScope.get(namespace) ?? new Map<string, Map<string, SubjectBinding>>();
    this.#byScope.set(namespace, bySubject);
    for (const subject of subjects) {
      const at = subjectKey(subject, namespace);
      const bindings = bySubject.get(at) ?? new Map<string, SubjectBinding>();
      bySubject.set(at, bindings.set(key, { namespace, name, roleRef: binding.roleRef, subject }));
    }
  }

  deleteBinding({ metadata = {} }: Pick<BindingObject, 'metadata'>): void {
    const { name = '', namespace = '' } = metadata;
    const key = roleKey(namespace, name);
    const bySubject = this.#byScope.get(namespace);
    for (const at of this.#subjectsOf.get(key) ?? []) {
      const bindings = bySubject?.get(at);
      bindings?.delete(key);
      if (bindings?.size === 0) bySubject?.delete(at);
    }
    if (bySubject?.size === 0) this.#byScope.delete(namespace);
    this.#subjectsOf.delete(key);
  }

  /** The rules of a role; undefined where there is no such role. */
  rules(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(roleKey(roleRef.kind === 'ClusterRole' ? '' : namespace, roleRef.name));
  }

  /** What binds a user everywhere, then what binds him in `namespace` ('' asks for the former alone). */
  *bindingsOf(user: UserInfo, namespace: string): Generator<SubjectBinding> {
    const keys = [`User:${user.username}`, ...user.groups.map((group) => `Group:${group}`)];
    const serviceAccount = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user.username);
    if (serviceAccount) keys.push(`ServiceAccount:${serviceAccount[1]}/${serviceAccount[2]}`);
    for (const scope of namespace === '' ? [''] : ['', namespace]) {
      const bySubject = this.#byScope.get(scope);
      if (bySubject === undefined) continue;
      for (const key of keys) yield* bySubject.get(key)?.values() ?? [];
    }
  }
}

function roleKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function subjectKey(subject: Subject, bindingNamespace: string): string {
  if (subject.kind !== 'ServiceAccount') return `${subject.kind}:${subject.name}`;
  return `ServiceAccount:${subject.namespace || bindingNamespace}/${subject.name}`;
}
