import { type ComparedUser, USERS } from '../settings.ts';

/** More rounds than any run has: tokens must be known when the servers start. */
const MAX_ROUNDS = 64;

/** A caller in the round's world. `name` is the name before `-token`. */
export interface Identity {
  readonly name: string;
  readonly username: string;
  readonly groups: readonly string[];
}

export function namespacesOf(round: number): [string, string] {
  return [`ra-${round}`, `rb-${round}`];
}

export function nodesOf(round: number): [string, string] {
  return [`n1-${round}`, `n2-${round}`];
}

/** Six users of two groups, two service accounts, two nodes, and a user that is called like a node but is none. */
export function identitiesOf(round: number): Identity[] {
  const [namespace] = namespacesOf(round);
  const [one, two] = nodesOf(round);
  const identity = (id: string, username: string, ...groups: string[]): Identity => ({
    name: `r${round}-${id}`,
    username,
    groups,
  });
  const accounts = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return [
    identity('u1', `u1-${round}`, `g1-${round}`),
    identity('u2', `u2-${round}`, `g1-${round}`, `g2-${round}`),
    identity('u3', `u3-${round}`, `g2-${round}`),
    identity('u4', `u4-${round}`),
    identity('u5', `u5-${round}`),
    identity('u6', `u6-${round}`),
    identity('s1', `system:serviceaccount:${namespace}:sa1`, ...accounts),
    identity('s2', `system:serviceaccount:${namespace}:sa2`, ...accounts),
    identity('n1', `system:node:${one}`, 'system:nodes'),
    identity('n2', `system:node:${two}`, 'system:nodes'),
    identity('n3', `system:node:${one}`),
    identity('b1', `system:bootstrap:abcdef`, 'system:bootstrappers', 'system:bootstrappers:join'),
  ];
}

/** Every token that a run can need. */
export function rightsUsers(): ComparedUser[] {
  const rounds = Array.from({ length: MAX_ROUNDS }, (_, round) => identitiesOf(round)).flat();
  const users = rounds.map(({ name, username, groups }) => ({ token: `${name}-token`, username, uid: name, groups }));
  return [...USERS, ...users];
}
