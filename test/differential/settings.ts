/** Of both servers alike. */
/** So wide that two Services of a case do not draw the same address, one after the other. */
export const SERVICE_RANGE = '10.0.0.0/16';

/** A user of both servers, by a static token. */
export interface ComparedUser {
  readonly token: string;
  readonly username: string;
  readonly uid: string;
  readonly groups: readonly string[];
}

export const USERS: readonly ComparedUser[] = [
  { token: 'admin-token', username: 'admin', uid: 'uid-admin', groups: ['system:masters'] },
  { token: 'alice-token', username: 'alice', uid: 'uid-alice', groups: ['devs'] },
  { token: 'bob-token', username: 'bob', uid: 'uid-bob', groups: [] },
];
