// The process behind MembersProcess: simulated members as `aster up` holds them, from compiled packages. Plain JavaScript, so that
// Node need not load what strips types.
import { enableCompileCache } from 'node:module';

process.on('SIGINT', () => {}); // The parent decides.
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0)); // Members are made to be killed.
enableCompileCache(process.env.BENCH_COMPILE_CACHE);
const { startMember } = await import('@asterism/sim');
const { SubtreePool } = await import('@asterism/client');
const { keepHeapCompact, silentLogger } = await import('@asterism/runtime');
/** @type {Map<string, import('@asterism/sim').Member>} */
const members = new Map();
const subtrees = new SubtreePool();
keepHeapCompact(new AbortController().signal);

/** @param {import('./members-process.ts').ToMembers} message */
async function answer({ start, stop }) {
  for (const name of stop ?? []) {
    await members.get(name)?.stop();
    members.delete(name);
  }
  const admins = [];
  for (const { name, dataDir, nodes } of start ?? []) {
    const listen = { host: '127.0.0.1', port: 0 };
    const member = await startMember({ name, dataDir, listen, nodes, logger: silentLogger, subtrees });
    members.set(name, member);
    admins.push(member.admin);
  }
  return { admins };
}

process.on('message', (/** @type {import('./members-process.ts').ToMembers} */ message) => {
  answer(message).then(
    (result) => process.send?.(result),
    (/** @type {Error} */ error) => process.send?.({ failure: error.message }),
  );
});
process.send?.({ admins: [] });
