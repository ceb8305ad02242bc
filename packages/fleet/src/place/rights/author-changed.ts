import type { Predicate } from '@asterism/runtime';
import { AUTHOR_ANNOTATION } from '../../api/index.ts';

/** An update that records another author. */
export const authorChanged: Predicate = {
  update: (before, after) =>
    before.metadata?.annotations?.[AUTHOR_ANNOTATION] !== after.metadata?.annotations?.[AUTHOR_ANNOTATION],
};
