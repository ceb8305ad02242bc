import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ask } from './ask.ts';
import { type BadCredential, OWN_SECRET, WHO_AM_I } from './bad-credential.ts';
import { CERTIFICATES, FRONT_PROXY, ID_TOKENS, OTHER_TOKENS } from './bad-credentials.ts';
import { ACCOUNT_TOKENS } from './forged-tokens.ts';
import { TREASURE } from './furnish.ts';
import { revisionOf } from './identities.ts';
import { openStage, type Stage } from './stage.ts';

const TABLES: [name: string, rows: BadCredential[], at: 'server' | 'behind'][] = [
  ['tokens of service accounts', ACCOUNT_TOKENS, 'server'],
  ['other tokens', OTHER_TOKENS, 'server'],
  ['ID tokens', ID_TOKENS, 'server'],
  ['certificates', CERTIFICATES, 'server'],
  ['the word of a front proxy', FRONT_PROXY, 'behind'],
];

describe('credentials that are no good', () => {
  let stage: Stage;

  before(async () => {
    stage = await openStage();
  });

  after(() => stage?.[Symbol.asyncDispose]());

  for (const [table, rows, at] of TABLES) {
    describe(table, () => {
      for (const [name, make, outcome = {}] of rows) {
        test(name, async () => {
          const { expect = [401, 'Unauthorized'], himself, question = OWN_SECRET } = outcome;
          const credential = await make(stage);
          const { [at]: place } = stage;
          const before = await revisionOf(place.client);
          const own = await ask(place, credential, question);
          const who = await ask(place, credential, WHO_AM_I);
          assert.deepEqual([own.status, own.reason], expect, own.text);
          if (himself === undefined) assert.deepEqual([who.status, who.reason], expect, who.text);
          else assert.match(who.text, new RegExp(`"username":"${himself}","groups":\\["system:authenticated"\\]`));
          for (const { text } of [own, who]) {
            assert.doesNotMatch(text, new RegExp(TREASURE));
            if (credential.token) assert.equal(text.includes(credential.token), false, 'the token is told');
          }
          assert.equal(await revisionOf(place.client), before, 'something was changed');
        });
      }
    });
  }
});
