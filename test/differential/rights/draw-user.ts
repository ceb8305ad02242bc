import type { Draw } from '../../soak/draw.ts';
import type { RightsWorld } from './rights-world.ts';

/** Most decisions are of callers that may do little; half of them of one that holds a rule about the resource. */
export function drawUser(draw: Draw, { holders, identities }: RightsWorld, resource = ''): string {
  if (draw.chance(0.03)) return draw.pick(['anonymous', 'admin']);
  const its = holders.get(resource) ?? [];
  if (its.length > 0 && draw.chance(0.5)) return draw.pick(its);
  const all = holders.get('*') ?? [];
  return all.length > 0 && draw.chance(0.2) ? draw.pick(all) : draw.pick(identities).name;
}
