import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ask } from './ask.ts';
import { DETOUR_DOORS, type Door, ESCALATION_DOORS, IMPERSONATION_DOORS, SECRET_DOORS } from './doors.ts';
import { MINE, TREASURE } from './furnish.ts';
import { type Identity, openIdentities, revisionOf } from './identities.ts';
import { openStage, type Stage } from './stage.ts';

const KINDS = [
  'client certificate',
  'bound service account token',
  'service account token of a Secret',
  'bootstrap token',
  'static token',
  'ID token',
  'impersonation',
  'front proxy',
  'node',
  'anonymous',
];

const TABLES: [name: string, doors: Door[], at?: (identity: Identity) => boolean][] = [
  ['Secrets of another namespace', SECRET_DOORS],
  ['detours to them', DETOUR_DOORS],
  // Roles of a server whose rights another one decides give none.
  ['more rights than one has', ESCALATION_DOORS, ({ rights }) => rights !== 'delegated'],
  ['somebody else', IMPERSONATION_DOORS],
];

/** The treasure as it stands in a Secret, in protobuf, and in an answer of JSON. */
const LEAK = new RegExp(`${TREASURE}|${Buffer.from(TREASURE).toString('base64')}`);

describe('doors that are shut, whoever tries them', () => {
  let stage: Stage;
  let identities: Identity[];

  before(async () => {
    stage = await openStage();
    identities = await openIdentities(stage);
  });

  after(() => stage?.[Symbol.asyncDispose]());

  for (const [index, kind] of KINDS.entries()) {
    describe(kind, () => {
      test('is who he is, and has what is his', async () => {
        const identity = identities[index]!;
        assert.equal(identity.kind, kind);
        const { place, credential, username, rights } = identity;
        const own = await ask(place, credential, { path: `/api/v1/namespaces/${MINE}/secrets/own` });
        if (rights !== 'none') assert.equal(own.status, 200, own.text);
        else assert.match(own.message, new RegExp(`User "${username}" cannot get resource|no relationship found`));
      });

      for (const [name, doors, at] of TABLES) {
        test(`does not get: ${name}`, async (t) => {
          const identity = identities[index]!;
          if (at !== undefined && !at(identity)) return t.skip('another server decides');
          const shut = doors.filter(({ openFor = [] }) => !openFor.includes(kind));
          for (const door of shut) await t.test(door.name, () => tryDoor(identity, door));
        });
      }
    });
  }
});

async function tryDoor(identity: Identity, door: Door): Promise<void> {
  const { place, credential, admin, rights } = identity;
  const before = await revisionOf(admin);
  const answer = await ask(place, credential, door);
  const [code, reason] = door.expect?.(identity) ?? [403, 'Forbidden'];
  assert.deepEqual([answer.status, answer.reason], [code, reason], answer.text);
  if (rights === 'insider' && door.insidersAreTold) assert.match(answer.message, door.insidersAreTold);
  assert.doesNotMatch(answer.text, LEAK);
  assert.equal(await revisionOf(admin), before, 'something was changed');
}
