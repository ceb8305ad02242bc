import { CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, type KubeObject, ROLE_BINDINGS, ROLES } from '@asterism/machinery';
import { type FollowedObject, followResource } from '../registry/follow-resource.ts';
import type { Registry } from '../registry/registry.ts';
import type { BindingObject, RbacIndex, RoleObject } from './rbac-index.ts';

/** Keeps an index as the registry's roles and bindings are, until the signal. `synced` is fulfilled when all are in it. */
export function watchRbac(
  registry: Registry,
  index: RbacIndex,
  signal: AbortSignal,
): { synced: Promise<unknown>; ended: Promise<unknown> } {
  const roles = {
    onApply: (object: KubeObject) => index.setRole(object as RoleObject),
    onDelete: (object: FollowedObject) => index.deleteRole(object),
  };
  const bindings = {
    onApply: (object: KubeObject) => index.setBinding(object as unknown as BindingObject),
    onDelete: (object: FollowedObject) => index.deleteBinding(object),
  };
  const followed = [
    followResource(registry, CLUSTER_ROLES, roles, signal),
    followResource(registry, ROLES, roles, signal),
    followResource(registry, CLUSTER_ROLE_BINDINGS, bindings, signal),
    followResource(registry, ROLE_BINDINGS, bindings, signal),
  ];
  return {
    synced: Promise.all(followed.map(({ synced }) => synced)),
    ended: Promise.all(followed.map(({ ended }) => ended)),
  };
}
