import type { Draw } from '../../soak/draw.ts';
import type { Fields } from '../objects/generated-kind.ts';
import type { Decision } from './decision.ts';
import { drawUser } from './draw-user.ts';
import { SIGNERS } from './random-rules.ts';
import { CSRS, type RightsWorld, type SigningRequests } from './rights-world.ts';

const MERGE = { 'content-type': 'application/merge-patch+json' };

/** Signing requests: creation by groups and signers, and what each subresource may change. Never stored. */
export function drawSigning(draw: Draw, world: RightsWorld): Decision {
  const user = drawUser(draw, world, 'certificatesigningrequests');
  const query = { dryRun: 'All' };
  if (draw.chance(0.25)) {
    const body = newRequest(draw, world.requests);
    return { family: 'create CSR', user, request: { method: 'POST', path: CSRS, query, body }, compares: 'rights' };
  }
  const subresource = draw.pick(['/status', '/status', '/approval', '']);
  const main = `${CSRS}/${draw.pick(world.signingRequests)}`;
  const path = `${main}${subresource}`;
  const change = drawChange(draw, world.certificate);
  const family = `CSR${subresource}`;
  if (draw.chance(0.35)) {
    return { family, user, request: { method: 'PUT', path, query }, base: { path: main, change }, compares: 'rights' };
  }
  return { family, user, request: { method: 'PATCH', path, query, headers: MERGE, body: change }, compares: 'rights' };
}

function drawChange(draw: Draw, certificate: string): Fields {
  const condition = (type: string): Fields => ({
    type,
    status: draw.chance(0.95) ? 'True' : 'False',
    reason: draw.pick(['r', 'other']),
    message: 'm',
  });
  const status = draw.pick<() => Fields>([
    () => ({ conditions: [condition(draw.pick(['Approved', 'Denied', 'Failed', 'Odd']))] }),
    () => ({ conditions: [condition('Approved'), condition(draw.pick(['Denied', 'Failed', 'Odd', 'Approved']))] }),
    () => ({ conditions: [] }),
    () => ({ certificate }),
    () => ({ certificate: draw.pick(['', null]) }),
    () => ({ certificate, conditions: [condition('Approved'), condition('Failed')] }),
    () => ({}),
  ])();
  return {
    status,
    ...(draw.chance(0.15) && { metadata: { labels: { a: 'b' } } }),
    ...(draw.chance(0.15) && {
      spec: { signerName: draw.pick(SIGNERS), username: 'root', groups: ['system:masters'] },
    }),
  };
}

function newRequest(draw: Draw, requests: SigningRequests): Fields {
  const signerName = draw.pick(SIGNERS);
  return {
    metadata: { name: `new${draw.int(0, 99)}` },
    spec: {
      request: requests.get(draw.pick([...requests.keys()])),
      signerName,
      usages: draw.pick([
        ['client auth'],
        ['client auth', 'digital signature', 'key encipherment'],
        ['server auth'],
        [],
      ]),
      ...(draw.chance(0.2) && { username: 'root', groups: ['system:masters'] }),
    },
    ...(draw.chance(0.15) && { status: { conditions: [{ type: 'Approved', status: 'True' }] } }),
  };
}
