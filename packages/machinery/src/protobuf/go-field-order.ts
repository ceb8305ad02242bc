import { protobufDescriptor } from '#platform';
import { isJsonObject, setMember } from '../json-object.ts';
import type { GroupVersionKind } from '../kinds.ts';
import { once } from '../schema/once.ts';
import { type Descriptor, type MessagePlan, MessagePlans } from './message-plans.ts';

/** Read when first asked for: only messages of errors show an order. */
const plans = once(() => new MessagePlans(protobufDescriptor() as Descriptor));

/**
 * A copy of an object of a built-in kind with its fields in the order in which a kube-apiserver writes them: those of a struct
 * as Go declares them, keys of maps sorted. An object of another kind comes back with all keys sorted.
 */
export function inGoOrder(object: Readonly<Record<string, unknown>>, kind: GroupVersionKind): Record<string, unknown> {
  const plan = plans().ofKind(kind.group, kind.version, kind.kind);
  if (!plan) return inKeyOrder(object) as Record<string, unknown>;
  const { kind: name, apiVersion, ...rest } = object;
  return { kind: name, apiVersion, ...(ordered(rest, plan) as Record<string, unknown>) };
}

/** A copy of a JSON value with all keys sorted, as Go writes maps. */
export function inKeyOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inKeyOrder);
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) setMember(copy, key, inKeyOrder(value[key]));
  return copy;
}

function ordered(value: unknown, plan: MessagePlan): unknown {
  if (!isJsonObject(value)) return value;
  const copy: Record<string, unknown> = {};
  const take = (message: MessagePlan): void => {
    for (const field of message.declared) {
      if (field.name === '') take(field.message());
      else if (Object.hasOwn(value, field.name)) {
        setMember(copy, field.name, orderedMember(value[field.name], field));
      }
    }
  };
  take(plan);
  for (const key of Object.keys(value).sort()) if (!Object.hasOwn(copy, key)) setMember(copy, key, value[key]);
  return copy;
}

function orderedMember(value: unknown, field: MessagePlan['declared'][number]): unknown {
  const item = (each: unknown): unknown => (field.scalar ? each : ordered(each, field.message()));
  if (Array.isArray(value)) return value.map(item);
  if (!field.map || !isJsonObject(value)) return item(value);
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value).sort()) setMember(copy, key, item(value[key]));
  return copy;
}
