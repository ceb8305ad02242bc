import type { Credential, Question } from './ask.ts';
import { MINE } from './furnish.ts';
import type { Stage } from './stage.ts';

/** Something that is shown and is no good, and what comes of it: 401 Unauthorized, if nothing else is said. */
export type BadCredential = [
  name: string,
  make: (stage: Stage) => Promise<Credential>,
  outcome?: {
    expect?: [code: number, reason: string];
    /** Who he is all the same, by what else he shows. */
    himself?: string;
    /** Default {@link OWN_SECRET}. */
    question?: Question;
  },
];

/** Everybody who is anybody may ask this; what it answers is who he is. */
export const WHO_AM_I: Question = {
  method: 'POST',
  path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
};

export const OWN_SECRET: Question = { path: `/api/v1/namespaces/${MINE}/secrets/own` };
