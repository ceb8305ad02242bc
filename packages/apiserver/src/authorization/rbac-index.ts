import { serviceAccountUser, type UserInfo } from '../contract/user-info.ts';
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

/** A role as bindings refer to it, also before it is there and after it is gone. */
interface RoleSlot {
  /** Undefined where there is no such role. */
  rules: readonly PolicyRule[] | undefined;
  /** How many bindings refer to it. */
  bound: number;
}

/** A binding as one subject sees it. */
export interface SubjectBinding {
  /** '' for a ClusterRoleBinding, which holds everywhere. */
  readonly namespace: string;
  readonly name: string;
  readonly roleRef: RoleRef;
  readonly subject: Subject;
  readonly role: Readonly<RoleSlot>;
}

/** What is bound to each subject of one scope, by its name, or by its user name for a ServiceAccount; then by the bindings' own keys. */
type Bound = Map<string, Map<string, SubjectBinding>>;
type Scope = Readonly<Record<SubjectKind, Bound>>;
type SubjectKind = 'User' | 'Group' | 'ServiceAccount';

interface KnownBinding {
  subjects: readonly Subject[];
  roleRef: RoleRef;
}

/**
 * Roles and bindings in memory, found by who is bound and where: a decision looks at the bindings of one user and his groups that
 * hold in its namespace, however many others there are.
 */
export class RbacIndex {
  readonly #roles = new Map<string, RoleSlot>();
  /** What each binding put in, to take it out again. */
  readonly #bindings = new Map<string, KnownBinding>();
  /** By the namespace in which they hold ('' for everywhere). */
  readonly #scopes = new Map<string, Scope>();

  setRole({ metadata = {}, rules }: RoleObject): void {
    this.#slot(objectKey(metadata.namespace ?? '', metadata.name ?? '')).rules = rules ?? [];
  }

  deleteRole({ metadata = {} }: Pick<RoleObject, 'metadata'>): void {
    const key = objectKey(metadata.namespace ?? '', metadata.name ?? '');
    this.#slot(key).rules = undefined;
    this.#dropUnused(key);
  }

  setBinding(binding: BindingObject): void {
    this.deleteBinding(binding);
    const { name = '', namespace = '' } = binding.metadata ?? {};
    const { roleRef } = binding;
    const subjects = (binding.subjects ?? []).filter(({ kind }) => isSubjectKind(kind));
    const key = objectKey(namespace, name);
    const slot = this.#slot(roleKey(roleRef, namespace));
    slot.bound++;
    this.#bindings.set(key, { subjects, roleRef });
    const scope = this.#scopes.get(namespace) ?? { User: new Map(), Group: new Map(), ServiceAccount: new Map() };
    if (subjects.length > 0) this.#scopes.set(namespace, scope);
    for (const subject of subjects) {
      const ofKind = scope[subject.kind as SubjectKind];
      const at = subjectName(subject, namespace);
      const bound = ofKind.get(at) ?? new Map<string, SubjectBinding>();
      ofKind.set(at, bound.set(key, { namespace, name, roleRef, subject, role: slot }));
    }
  }

  deleteBinding({ metadata = {} }: Pick<BindingObject, 'metadata'>): void {
    const { name = '', namespace = '' } = metadata;
    const key = objectKey(namespace, name);
    const known = this.#bindings.get(key);
    if (known === undefined) return;
    this.#bindings.delete(key);
    const scope = this.#scopes.get(namespace);
    for (const subject of known.subjects) {
      const ofKind = scope?.[subject.kind as SubjectKind];
      const at = subjectName(subject, namespace);
      const bound = ofKind?.get(at);
      bound?.delete(key);
      if (bound?.size === 0) ofKind?.delete(at);
    }
    if (scope && isEmpty(scope)) this.#scopes.delete(namespace);
    const role = roleKey(known.roleRef, namespace);
    this.#slot(role).bound--;
    this.#dropUnused(role);
  }

  /** The rules of a role; undefined where there is no such role. */
  rules(roleRef: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#roles.get(roleKey(roleRef, namespace))?.rules;
  }

  /** What binds a user everywhere, then what binds him in `namespace` ('' asks for the former alone). */
  bindingsOf(user: UserInfo, namespace: string): SubjectBinding[] {
    const found: SubjectBinding[] = [];
    this.#collect(user, this.#scopes.get(''), found);
    if (namespace !== '') this.#collect(user, this.#scopes.get(namespace), found);
    return found;
  }

  /** Every request comes by: names are looked up as they are, and nothing is put together for it. */
  #collect({ username, groups }: UserInfo, scope: Scope | undefined, found: SubjectBinding[]): void {
    if (scope === undefined) return;
    pushAll(scope.User.get(username), found);
    for (const group of groups) pushAll(scope.Group.get(group), found);
    pushAll(scope.ServiceAccount.get(username), found);
  }

  #slot(key: string): RoleSlot {
    let slot = this.#roles.get(key);
    if (slot === undefined) this.#roles.set(key, (slot = { rules: undefined, bound: 0 }));
    return slot;
  }

  #dropUnused(key: string): void {
    const { rules, bound } = this.#slot(key);
    if (rules === undefined && bound === 0) this.#roles.delete(key);
  }
}

function pushAll(bound: ReadonlyMap<string, SubjectBinding> | undefined, found: SubjectBinding[]): void {
  if (bound === undefined) return;
  for (const binding of bound.values()) found.push(binding);
}

function isEmpty({ User, Group, ServiceAccount }: Scope): boolean {
  return User.size + Group.size + ServiceAccount.size === 0;
}

function isSubjectKind(kind: string): kind is SubjectKind {
  return kind === 'User' || kind === 'Group' || kind === 'ServiceAccount';
}

function objectKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function roleKey(roleRef: RoleRef, namespace: string): string {
  return objectKey(roleRef.kind === 'ClusterRole' ? '' : namespace, roleRef.name);
}

/** As a user who asks is called. */
function subjectName({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  return kind === 'ServiceAccount' ? serviceAccountUser(namespace || bindingNamespace, name) : name;
}
