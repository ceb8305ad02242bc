import { readExtraKey, readIdentityHeader } from '@asterism/client';
import { badRequest, StatusError } from '@asterism/machinery';
import type { AuthorizationAttributes, Authorizer } from '../contract/authorizer.ts';
import { forbiddenError } from '../contract/forbidden-error.ts';
import type { Headers } from '../contract/api-request.ts';
import type { RequestInfo } from '../contract/request-info.ts';
import { authenticated } from './authenticator.ts';
import { SYSTEM_UNAUTHENTICATED, type UserInfo } from '../contract/user-info.ts';

const PREFIX = 'impersonate-';
const EXTRA_PREFIX = `${PREFIX}extra-`;
const AUTHENTICATION = 'authentication.k8s.io';

/** What the headers ask to be taken for. */
interface Impersonation {
  username: string;
  uid: string;
  groups: string[];
  extra: Record<string, string[]>;
}

/**
 * The user that a request acts as: the caller, or whom its `Impersonate-*` headers name, if the caller may. Everything that
 * is asked for (user, each group, uid, each extra value) must be allowed by the verb `impersonate`, or as a whole by the
 * constrained verbs of KEP-5284. Rejects with 403, and with 400 where the headers name no user, or are not UTF-8.
 */
export async function impersonate(
  user: UserInfo,
  headers: Headers,
  info: RequestInfo,
  authorizer: Authorizer,
): Promise<UserInfo> {
  const wanted = readHeaders(headers);
  if (wanted === undefined) return user;
  const constrained = await checkConstrained(user, wanted, info, authorizer);
  if (constrained !== 'allowed') {
    const refusal = await checkEach(user, wanted, authorizer);
    if (refusal !== undefined) throw refusal.isFirst && constrained !== undefined ? constrained : refusal.error;
  }
  return impersonated(wanted);
}

function readHeaders(headers: Headers): Impersonation | undefined {
  if (!Object.keys(headers).some((name) => name.startsWith(PREFIX))) return undefined;
  const values = (name: string): string[] => {
    const read = readIdentityHeader(headers[name]);
    if (read === undefined) throw badRequest(`the header ${name} is not valid UTF-8`);
    return read;
  };
  const [username = ''] = values('impersonate-user');
  const [uid = ''] = values('impersonate-uid');
  const groups = values('impersonate-group');
  const extras = new Map<string, string[]>();
  for (const name of Object.keys(headers)) {
    if (!name.startsWith(EXTRA_PREFIX)) continue;
    const key = readExtraKey(name.slice(EXTRA_PREFIX.length));
    if (key === undefined) throw badRequest(`the header ${name} is not valid UTF-8`);
    extras.set(key, [...(extras.get(key) ?? []), ...values(name)]);
  }
  // A key may be `__proto__`: an assignment would lose it.
  const extra = Object.fromEntries(extras);
  if (username !== '') return { username, uid, groups, extra };
  // A name of blanks arrives empty over HTTP/1.1. Whoever sent it did not mean to act as the sender.
  if (headers['impersonate-user'] !== undefined) throw badRequest('the header impersonate-user names no user');
  if (uid === '' && groups.length === 0 && extras.size === 0) return undefined;
  throw badRequest(`requested ${describe({ username, uid, groups, extra })} without impersonating a user name`);
}

/** Upstream prints Go's structure; clients' tests know the text. */
function describe({ groups, extra }: Impersonation): string {
  const list = (values: readonly string[]): string =>
    `[]string{${values.map((value) => JSON.stringify(value)).join(', ')}}`;
  const entries = Object.entries(extra).map(([key, values]) => `${JSON.stringify(key)}:${list(values)}`);
  const extraText = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  const groupsText = groups.length === 0 ? '[]string(nil)' : list(groups);
  return `&user.DefaultInfo{Name:"", UID:"", Groups:${groupsText}, Extra:${extraText}}`;
}

const SERVICE_ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/**
 * Constrained impersonation: `impersonate-on:MODE:VERB` on what is requested, and `impersonate:MODE` on whom. Gives the
 * refusal, or undefined where no mode fits what is asked for.
 */
async function checkConstrained(
  user: UserInfo,
  wanted: Impersonation,
  info: RequestInfo,
  authorizer: Authorizer,
): Promise<'allowed' | StatusError | undefined> {
  const account = SERVICE_ACCOUNT.exec(wanted.username);
  const isPlain = wanted.groups.length === 0 && wanted.uid === '' && Object.keys(wanted.extra).length === 0;
  if (account !== null && !isPlain) return undefined;
  const mode = account === null ? 'user-info' : 'serviceaccount';
  const attributes = { ...attributesOf(user, info), verb: `impersonate-on:${mode}:${info.verb}` };
  const decision = await authorizer.authorize(attributes);
  if (!decision.allowed) return forbiddenError(attributes, decision.reason);
  for (const each of targets(user, wanted)) {
    const target = { ...each, verb: `impersonate:${mode}`, group: AUTHENTICATION };
    const allowed = await authorizer.authorize(target);
    if (!allowed.allowed) return forbiddenError(target, allowed.reason);
  }
  return 'allowed';
}

/** The checks of old: the verb `impersonate` on each thing asked for. */
async function checkEach(
  user: UserInfo,
  wanted: Impersonation,
  authorizer: Authorizer,
): Promise<{ error: StatusError; isFirst: boolean } | undefined> {
  for (const [index, attributes] of targets(user, wanted).entries()) {
    const { allowed, reason } = await authorizer.authorize(attributes);
    if (!allowed) return { error: forbiddenError(attributes, reason), isFirst: index === 0 };
  }
  return undefined;
}

function targets(user: UserInfo, { username, uid, groups, extra }: Impersonation): AuthorizationAttributes[] {
  const verb = 'impersonate';
  const account = SERVICE_ACCOUNT.exec(username);
  const extras = Object.entries(extra).flatMap(([subresource, values]) =>
    values.map((name) => ({
      user,
      verb,
      group: AUTHENTICATION,
      version: 'v1',
      resource: 'userextras',
      subresource,
      name,
    })),
  );
  return [
    account === null
      ? { user, verb, group: '', version: 'v1', resource: 'users', name: username }
      : {
          user,
          verb,
          group: '',
          version: 'v1',
          resource: 'serviceaccounts',
          namespace: account[1]!,
          name: account[2]!,
        },
    ...groups.map((name) => ({ user, verb, group: '', version: 'v1', resource: 'groups', name })),
    ...(uid === '' ? [] : [{ user, verb, group: AUTHENTICATION, version: 'v1', resource: 'uids', name: uid }]),
    ...extras,
  ];
}

/** What authorization is asked for a request as it stands. */
export function attributesOf(user: UserInfo, info: RequestInfo): AuthorizationAttributes {
  if (!info.isResource) return { user, verb: info.verb, path: info.path };
  const { verb, group, version, resource, subresource, namespace, name } = info;
  const attributes = { user, verb, group, version, resource, subresource, namespace, name };
  return info.fieldSelector.length === 0 ? attributes : { ...attributes, fieldSelector: info.fieldSelector };
}

function impersonated({ username, uid, groups, extra }: Impersonation): UserInfo {
  const account = SERVICE_ACCOUNT.exec(username);
  const own =
    groups.length === 0 && account !== null
      ? ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`]
      : groups;
  const user: UserInfo = {
    username,
    groups: [...own],
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
  if (username === 'system:anonymous')
    return { ...user, groups: [...new Set([...user.groups, SYSTEM_UNAUTHENTICATED])] };
  return authenticated(user);
}
