import { type FieldError, fieldForbidden, type KubeObject } from '@asterism/machinery';
import { validateConditions, validateIssuedCertificate, validateSigningRequest } from './validation.ts';
import type { Draft } from '../../contract/strategy.ts';
import type { Kind } from '../../contract/kind.ts';

interface SigningRequest {
  spec?: { signerName?: string; [field: string]: unknown };
  status?: { conditions?: SigningCondition[]; certificate?: string | undefined };
}

interface SigningCondition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastUpdateTime?: string;
  lastTransitionTime?: string;
}

/** Conditions that, once there, stay. */
const FINAL_CONDITIONS = ['Approved', 'Denied', 'Failed'];

export const certificateSigningRequestKind: Kind = {
  groupResource: 'certificatesigningrequests.certificates.k8s.io',
  strategy: {
    metadataChecks: 4,
    selectableFields: { 'spec.signerName': (object) => (object as SigningRequest).spec?.signerName ?? '' },

    resetFields: { main: [['spec'], ['status']] },

    prepareForCreate(draft, { user }) {
      // What somebody says of himself counts for nothing, also where the server knows nothing instead.
      const {
        username: _,
        uid: __,
        groups: ___,
        extra: ____,
        ...asked
      } = (draft.spec ?? {}) as Record<string, unknown>;
      draft.spec = {
        ...asked,
        username: user.username,
        ...(user.uid ? { uid: user.uid } : {}),
        groups: user.groups,
        ...(user.extra ? { extra: user.extra } : {}),
      };
      draft.status = {};
    },

    prepareForUpdate(draft, old) {
      draft.spec = old.spec;
    },

    parts: {
      approval: (draft, old, { now }) => withStatus(draft, old, { conditions: stamped(draft, old, now) }),

      status(draft, old, { now }) {
        const { certificate } = (draft as SigningRequest).status ?? {};
        const conditions = withDecisionsOf(old, stamped(draft, old, now));
        return withStatus(draft, old, { conditions, certificate });
      },
    },

    validateName: () => [],
    validateCreate: validateSigningRequest,
    validateUpdate: validateRequestUpdate,
    validateStatus: (object, old) => [...validateRequestUpdate(object, old), ...validateDecisions(object, old)],
  },
};

/** Only the subresource `approval` makes these. */
const DECISIONS = ['Approved', 'Denied'];

function conditionsOf(object: KubeObject): readonly SigningCondition[] {
  return (object as SigningRequest).status?.conditions ?? [];
}

/** A decision stays as it is, whatever a write to `status` says about its reason or message. */
function withDecisionsOf(old: KubeObject, conditions: SigningCondition[]): SigningCondition[] {
  return conditions.map((condition) => {
    if (!DECISIONS.includes(condition.type)) return condition;
    return conditionsOf(old).find(({ type }) => type === condition.type) ?? condition;
  });
}

function validateDecisions(object: KubeObject, old: KubeObject): FieldError[] {
  const count = (of: KubeObject, wanted: string): number =>
    conditionsOf(of).filter(({ type }) => type === wanted).length;
  return DECISIONS.filter((type) => count(object, type) > count(old, type)).map((type) =>
    fieldForbidden('status.conditions', `updates may not add a condition of type "${type}"`),
  );
}

/** Of the endpoints `status` and `approval` too: what was decided stays decided. */
function validateRequestUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const faults = [...validateConditions(object), ...validateIssuedCertificate(object)];
  const conditions = (object as SigningRequest).status?.conditions ?? [];
  for (const { type } of (old as SigningRequest).status?.conditions ?? []) {
    if (!FINAL_CONDITIONS.includes(type) || conditions.some((each) => each.type === type)) continue;
    faults.push(fieldForbidden('status.conditions', `updates may not remove a condition of type "${type}"`));
  }
  const { certificate } = (old as SigningRequest).status ?? {};
  if (certificate && (object as SigningRequest).status?.certificate !== certificate) {
    faults.push(fieldForbidden('status.certificate', 'updates may not modify existing certificate content'));
  }
  return faults;
}

function withStatus(draft: Draft, old: KubeObject, change: SigningRequest['status'] & object): Draft {
  const { conditions } = change;
  const status = { ...(old as SigningRequest).status, ...change };
  if (!conditions?.length) delete status.conditions;
  if (!status.certificate) delete status.certificate;
  return { ...old, metadata: draft.metadata, status };
}

/** Times for conditions that are new or come without. */
function stamped(draft: Draft, old: KubeObject, now: string): SigningCondition[] {
  const keyOf = ({ type, status }: SigningCondition): string => `${status} ${type}`;
  const before = new Map(
    ((old as SigningRequest).status?.conditions ?? []).toReversed().map((each) => [keyOf(each), each]),
  );
  return ((draft as SigningRequest).status?.conditions ?? []).map((condition) => {
    const same = before.get(keyOf(condition));
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? now,
      lastTransitionTime: condition.lastTransitionTime ?? same?.lastTransitionTime ?? now,
    };
  });
}
