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
 * Roles and bindings in memory, found by who is bound: a decision looks at the bindings of one user and his groups,
 * however many others there are.
 */
export class RbacIndex {
  readonly #roles = new Map<string, readonly PolicyRule[]>();
  /** Keys of the subjects that a binding has, to take it out again. */
  readonly #subjectsOf = new Map<string, string[]>();
  readonly #bySubject = new Map<string, Map<string, SubjectBinding>>();

  setRole({ metadata = {}, rules }: RoleObject): void {
    this.#roles.set(roleKey(metadata.namespace ?? '', metadata.name ?? ''), rules ?? []);
  }

  deleteRole({ metadata = {} }: RoleObject): void {
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
    for (const subject of subjects) {
      const at = subjectKey(subject, namespace);
      const bindings = this.#bySubject.get(at) ?? new Map<string, SubjectBinding>();
      this.#bySubject.set(at, bindings.set(key, { namespace, name, roleRef: binding.roleRef, subject }));
    }
  }

  deleteBinding({ metadata = {} }: BindingObject): void {
    const key = roleKey(metadata.namespace ?? '', metadata.name ?? '');
    for (const at of this.#subjectsOf.get(key) ?? []) {
      const bindings = this.#bySubject.get(at);
      bindings?.delete(key);
      if (bindings?.size === 0) this.#bySubject.delete(at);
    }
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
      for (const key of keys) {
        for (const binding of this.#bySubject.get(key)?.values() ?? []) {
          if (binding.namespace === scope) yield binding;
        }
      }
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
