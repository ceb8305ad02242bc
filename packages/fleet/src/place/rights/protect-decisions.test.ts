import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AdmissionRequest, Authorizer } from '@asterism/apiserver';
import type { KubeObject, ResourceType } from '@asterism/machinery';
import { CLUSTER_RESOURCE_BINDINGS, PROPAGATION_POLICIES, RESOURCE_BINDINGS, WORKS } from '../../api/index.ts';
import { protectDecisions } from './protect-decisions.ts';

const HUB = ['system:masters', 'system:authenticated'];
const ADMIN = ['asterism:admins', 'system:authenticated'];
const AGENT = ['asterism:agents', 'system:authenticated'];
const USER = ['system:authenticated'];

/** By RBAC everything is the group's, as `cluster-admin` gives it. */
const BY_ROLE = ['oidc:platform', 'system:authenticated'];
const authorizer: Authorizer = {
  authorize: ({ user, verb }) => ({ allowed: verb === '*' && user.groups.includes('oidc:platform'), reason: '' }),
};

const before = { metadata: { name: 'x', finalizers: ['f'] }, spec: { clusters: [{ name: 'a' }] } };
const elsewhere = { ...before, spec: { clusters: [{ name: 'b' }] } };
const held = { ...before, spec: { ...before.spec, suspension: { scheduling: true } } };
const heldBack = { ...before, spec: { ...before.spec, suspension: { scheduling: true, dispatching: true } } };
const preserved = { ...before, spec: { ...before.spec, preserveResourcesOnDeletion: true } };
const freed = { ...before, metadata: { name: 'x' } };

interface Row {
  name: string;
  type?: ResourceType;
  groups: string[];
  operation: AdmissionRequest['operation'];
  object?: KubeObject;
  namespace?: string;
  subresource?: string;
  allowed: boolean;
}

const ROWS: Row[] = [
  { name: 'the hub creates', groups: HUB, operation: 'CREATE', allowed: true },
  { name: 'a user creates', groups: USER, operation: 'CREATE', allowed: false },
  { name: 'a user deletes', groups: USER, operation: 'DELETE', allowed: false },
  { name: 'a user changes', groups: USER, operation: 'UPDATE', allowed: false },
  { name: 'a user writes status', groups: USER, operation: 'UPDATE', subresource: 'status', allowed: false },
  { name: 'an administrator creates', groups: ADMIN, operation: 'CREATE', allowed: false },
  { name: 'an administrator changes the spec', groups: ADMIN, operation: 'UPDATE', allowed: false },
  { name: 'an administrator writes status', groups: ADMIN, operation: 'UPDATE', subresource: 'status', allowed: false },
  { name: 'an administrator deletes', groups: ADMIN, operation: 'DELETE', allowed: true },
  { name: 'an administrator frees it', groups: ADMIN, operation: 'UPDATE', object: freed, allowed: true },
  {
    name: 'an administrator keeps what it placed',
    type: WORKS,
    groups: ADMIN,
    operation: 'UPDATE',
    object: preserved,
    allowed: true,
  },
  {
    name: 'a user keeps what it placed',
    type: WORKS,
    groups: USER,
    operation: 'UPDATE',
    object: preserved,
    allowed: false,
  },
  { name: 'an administrator by a role deletes', groups: BY_ROLE, operation: 'DELETE', allowed: true },
  { name: 'an administrator by a role creates', groups: BY_ROLE, operation: 'CREATE', allowed: false },
  { name: 'a user frees it', groups: USER, operation: 'UPDATE', object: freed, allowed: false },
  { name: 'a queue holds scheduling', groups: USER, operation: 'UPDATE', object: held, allowed: true },
  { name: 'a user suspends dispatching', groups: USER, operation: 'UPDATE', object: heldBack, allowed: false },
  { name: 'a user holds a Work', type: WORKS, groups: USER, operation: 'UPDATE', object: held, allowed: false },
  {
    name: 'an agent writes status',
    type: WORKS,
    groups: AGENT,
    operation: 'UPDATE',
    subresource: 'status',
    allowed: true,
  },
  {
    name: 'an agent writes the status of a Work that is nobody’s',
    type: WORKS,
    groups: AGENT,
    operation: 'UPDATE',
    subresource: 'status',
    namespace: 'team-a',
    allowed: false,
  },
  { name: 'an agent changes a Work', type: WORKS, groups: AGENT, operation: 'UPDATE', allowed: false },
  { name: 'an agent deletes a Work', type: WORKS, groups: AGENT, operation: 'DELETE', allowed: false },
  {
    name: 'an agent writes a binding’s status',
    groups: AGENT,
    operation: 'UPDATE',
    subresource: 'status',
    allowed: false,
  },
  {
    name: 'a binding without a namespace',
    type: CLUSTER_RESOURCE_BINDINGS,
    groups: USER,
    operation: 'CREATE',
    allowed: false,
  },
  { name: 'other kinds', type: PROPAGATION_POLICIES, groups: USER, operation: 'CREATE', allowed: true },
];

describe('bindings and Works are the hub’s', () => {
  for (const { name, type = RESOURCE_BINDINGS, groups, operation, object = elsewhere, allowed, ...rest } of ROWS) {
    test(`${name}: ${allowed ? 'allowed' : 'refused'}`, async () => {
      const request = {
        operation,
        resource: { type },
        subresource: undefined,
        namespace: 'asterism-cluster-a',
        name: 'x',
        object: operation === 'DELETE' ? undefined : object,
        oldObject: operation === 'CREATE' ? undefined : before,
        user: { username: 'u', groups },
        dryRun: false,
        warn: () => {},
        ...rest,
      } as unknown as AdmissionRequest;
      const asked = protectDecisions(authorizer).admit(request);
      if (allowed) await asked;
      else await assert.rejects(asked, { code: 403, message: /only the hub writes/ });
    });
  }
});
