import type { TestContext } from 'node:test';
import type { Mutation } from '../mutations.ts';
import { startRealServer } from '../real-server.ts';
import { SourceCopy } from '../source-copy.ts';
import { rightsUsers } from './identities.ts';
import { drawRounds, findDifferences, makeKeys, outcomesOf, outcomesOn } from './rights-suite.ts';

const SERVE_OWN = 'test/differential/rights/serve-own.ts';

type RightsMutation = Pick<Mutation, 'name' | 'replacements'>;

function mutation(name: string, file: string, [find, replace]: readonly [string, string]): RightsMutation {
  return { name, replacements: [{ file, find, replace }] };
}

/** Holes that our server once had, or could have. Random decisions must find each. */
export const RIGHTS_MUTATIONS: readonly RightsMutation[] = [
  mutation(
    'an update that leaves the rules of a role skips the escalation check',
    'packages/apiserver/src/authorization/escalation-check.ts',
    [
      'if (ROLES.has(resource.type.resource)) await checkRole',
      'if (ROLES.has(resource.type.resource) && JSON.stringify([object.rules, object.aggregationRule]) !== JSON.stringify([request.oldObject?.rules, request.oldObject?.aggregationRule])) await checkRole',
    ],
  ),
  mutation('status approves a signing request', 'packages/apiserver/src/kinds/certificate-signing-request/kind.ts', [
    'validateStatus: (object, old) => [...validateRequestUpdate(object, old), ...validateDecisions(object, old)],',
    'validateStatus: (object, old) => [...validateRequestUpdate(object, old), ...validateDecisions(old, old)],',
  ]),
  mutation('a condition needs no right to sign', 'packages/apiserver/src/authorization/signer-check.ts', [
    "if (subresource === 'status' && !deepEqual(signedPart(object), signedPart(oldObject)))",
    "if (subresource === 'status' && (object?.status as { certificate?: string })?.certificate !== (oldObject?.status as { certificate?: string })?.certificate && deepEqual(1, 1))",
  ]),
  mutation('a watch ignores the name in its path', 'packages/apiserver/src/contract/field-selection.ts', [
    'return { text: named, requirements: [own], name: pathName, isContradictory: false };',
    "return { text: '', requirements: [own], name: named === '' ? '' : pathName, isContradictory: false };",
  ]),
  mutation('a rule with names allows a deletecollection', 'packages/apiserver/src/contract/request-info.ts', [
    'if (isRead) info.name = info.selection.name;',
    'if (isRead || !isRead) info.name = info.selection.name;',
  ]),
  mutation(
    'an update of finalizers needs the rules of a role',
    'packages/apiserver/src/authorization/changes-only-references.ts',
    [
      'return deepEqual(comparable(object), comparable(old));',
      'return deepEqual(comparable(object), comparable(old)) && deepEqual(object, old);',
    ],
  ),
  mutation('an aggregationRule can be taken off', 'packages/apiserver/src/authorization/escalation-check.ts', [
    'if (!isAggregated(role) && !isAggregated(request.oldObject)) return;',
    'if (!isAggregated(role)) return;',
  ]),
];

/** The names of the mutations that no decision told from a server without them. */
export async function survivingRightsMutations(
  context: TestContext,
  options: { seed: number; rounds: number; each: number },
): Promise<string[]> {
  const rounds = drawRounds({ ...options, keys: await makeKeys() });
  const real = await outcomesOn(() => startRealServer(rightsUsers()), rounds);
  await using copy = await SourceCopy.make();
  const survivors: string[] = [];
  for (const { name, replacements } of RIGHTS_MUTATIONS) {
    await copy.mutated(
      replacements,
      async ({ target }) => {
        const own = await outcomesOf(target, rounds);
        const faults = findDifferences(rounds, real, own).filter(({ intended }) => intended === undefined);
        context.diagnostic(`${name}: ${faults.length} decisions differ; ${faults[0]?.decision.family ?? 'none'}`);
        if (faults.length === 0) survivors.push(name);
      },
      SERVE_OWN,
    );
  }
  return survivors;
}
