import type { Draw } from '../../soak/draw.ts';
import type { Decision } from './decision.ts';
import { drawAccessReview } from './draw-access-review.ts';
import { drawObjectWrite } from './draw-object-write.ts';
import { drawRead } from './draw-read.ts';
import { drawRightsWrite } from './draw-rights-write.ts';
import { drawSigning } from './draw-signing.ts';
import { drawSubresource } from './draw-subresource.ts';
import type { RightsWorld } from './rights-world.ts';

/** A family, and how often it comes up. */
export type DrawDecision = (draw: Draw, world: RightsWorld) => Decision;

const FAMILIES: readonly (readonly [weight: number, family: DrawDecision])[] = [
  [30, drawRead],
  [24, drawRightsWrite],
  [14, drawSigning],
  [14, drawSubresource],
  [10, drawObjectWrite],
  [8, drawAccessReview],
];
const TOTAL = FAMILIES.reduce((sum, [weight]) => sum + weight, 0);

/** A random decision; one in twenty is asked in another's name besides. */
export function drawDecision(draw: Draw, world: RightsWorld): Decision {
  let at = draw.next() * TOTAL;
  const [, family] = FAMILIES.find(([weight]) => (at -= weight) < 0) ?? FAMILIES[0]!;
  const decision = family(draw, world);
  return draw.chance(0.05) ? impersonating(decision, draw, world) : decision;
}

function impersonating(decision: Decision, draw: Draw, { identities, namespaces }: RightsWorld): Decision {
  if (decision.user === 'anonymous') return decision;
  const asked: Record<string, string | string[]> = {
    'impersonate-user': draw.pick([
      'one',
      'two',
      `system:serviceaccount:${draw.pick(namespaces)}:sa1`,
      draw.pick(identities).username,
      'system:anonymous',
      '',
    ]),
  };
  if (draw.chance(0.4)) asked['impersonate-group'] = draw.pick([['one'], ['one', 'two'], ['system:masters']]);
  const key = draw.pick(['scopes', 'scopes', 'other', '__proto__', 'constructor', '%73copes']);
  if (draw.chance(0.3)) asked[`impersonate-extra-${key}`] = draw.pick(['one', 'two', 'x']);
  const request = { ...decision.request, headers: { ...decision.request.headers, ...asked } };
  return { ...decision, family: `${decision.family}, impersonating`, request };
}
