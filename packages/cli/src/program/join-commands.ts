import { type Command, Option } from 'commander';
import { parseSyncMode, SYNC_MODES } from '../service/sync-mode.ts';
import {
  type CommandContext,
  destinationFlags,
  examples,
  hubCommand,
  inClusters,
  output,
  permissionFlags,
  reachFlag,
} from './command-context.ts';

/** `join`, `leave`, `doctor`: clusters come, go, and are looked after. */
export function addJoinCommands(context: CommandContext): void {
  addJoin(context);
  addLeave(context);
  addDoctor(context);
}

function addJoin({ program, name, terminal, exit }: CommandContext): void {
  const join = program
    .command('join')
    .description('Join a cluster to a hub: puts an agent into it, or (--push) gives the hub a credential of it');
  ofBoth(join);
  withAgent(join);
  withoutAgent(join)
    .addHelpText(
      'after',
      `
Everything is looked at before anything is changed: the hub (reach, authority, clock, token), the cluster (version, clock,
rights, whether it has joined). What is at fault is a line that says where, and what to do. Run again, it goes on.
${examples(name, [
  'join --kubeconfig edge.kubeconfig --name edge-1 --hub https://hub:7443 --token … --ca-hash sha256:…',
  'join --manifest --name edge-1 --hub https://hub:7443 --token-file token --ca-hash sha256:… | kubectl apply -f -',
  'join --push --kubeconfig edge.kubeconfig --name edge-1',
  'join --push --kubeconfig edge.kubeconfig --name edge-1 --permissions workloads --namespaces shop,blog',
])}`,
    )
    .action(async (flags: import('../join/join-options.ts').JoinFlags) => {
      const { join: run } = await import('../join/join.ts');
      exit(await run(flags, terminal));
    });
}

function addLeave({ program, name, terminal, exit }: CommandContext): void {
  hubCommand(program, name, {
    usage: 'leave <cluster>',
    summary: 'Take a cluster out: what was placed there, what its join made there and in the hub, and nothing else',
    lines: ['leave edge-1', 'leave edge-1 --keep', 'leave edge-1 --force'],
  })
    .option('--keep', 'leave what was placed in the cluster, unmanaged')
    .option('--force', 'do not go to the cluster: out of the hub at once, tunnel and all; for one that is gone')
    .option('--no-wait', 'do not wait until it has left: the hub goes on by itself')
    .option('--timeout <time>', 'how long to wait for that: 30s, 5m, 1h', '10m')
    .action(async (cluster: string, flags: import('../leave/leave.ts').LeaveFlags) => {
      const { leave } = await import('../leave/leave.ts');
      exit(await leave(cluster, flags, terminal));
    });
}

function addDoctor({ program, name, terminal, exit }: CommandContext): void {
  const doctor = hubCommand(program, name, {
    usage: 'doctor',
    summary:
      'Look for what is wrong, in the hub and in clusters, and say what to do; ends with 1 where there is a fault',
    lines: ['doctor', 'doctor -C edge-1 --all', 'doctor -o json'],
  });
  inClusters(doctor, 'look at these clusters (default: all)')
    .option('--all', 'say what is fine too')
    .addOption(output(['json']))
    .action(async (flags: import('../doctor/doctor.ts').DoctorFlags) => {
      const { doctor: run } = await import('../doctor/doctor.ts');
      exit(await run(flags, terminal));
    });
}

function ofBoth(join: Command): void {
  join
    .option('--kubeconfig <file>', 'kubeconfig of the cluster that joins, of an administrator there')
    .option('--context <name>', 'context in it (default: its current one)')
    .option('--name <name>', 'the name that the cluster shall have in the hub; required')
    .option('--endpoint <url>', 'where the hub finds its API server (push; default: where the kubeconfig does)')
    .option(
      '--endpoint-ca <file>',
      'authority of the certificate that is shown there (PEM; default: of the kubeconfig)',
    )
    .option('--provider <name>', 'who runs the cluster, told to the hub')
    .option('--region <name>', 'its region, told likewise')
    .option('--zones <a,b>', 'its zones, told likewise')
    .option('--labels <k=v,…>', 'labels of the Cluster in the hub, told likewise')
    .option('--dry-run', 'look at everything, print what would be done, and change nothing')
    .option('--no-wait', 'do not wait until the cluster is ready')
    .option('--timeout <time>', 'how long to wait for that: 30s, 5m, 1h', '5m');
  permissionFlags(join);
}

function withAgent(join: Command): void {
  join
    .option('--hub <url>', 'address of the hub as the cluster reaches it, https://HOST:PORT; required')
    .option('--ca-hash <pin>', "pin of the hub's authority, sha256:…; this or --hub-ca is required")
    .option('--hub-ca <file>', 'that authority itself (PEM), where the hub does not show it')
    .option('--token <token>', 'bootstrap token; other users of this machine can see it while this runs')
    .option('--token-file <file>', 'file with that token, - for stdin (default: $ASTERISM_TOKEN)')
    .addOption(
      new Option(
        '--mode <mode>',
        'who writes to the cluster: the agent (pull, dual; default: pull), or the hub, which dials it (push)',
      )
        .choices(SYNC_MODES)
        .argParser(parseSyncMode),
    )
    .option('--image <image>', "the agent's image (default: asterism-agent with this version as its tag)")
    .option('--proxy <url>', 'proxy through which the agent reaches the hub')
    .option('--host-network', "the agent's pod shares its node's network")
    .option('--manifest', 'print what would be applied, as YAML, and contact nobody');
  reachFlag(join);
  destinationFlags(join);
}

function withoutAgent(join: Command): Command {
  return join
    .option('--push', 'without an agent: the hub dials the cluster by an account that this makes there')
    .option('--use-given-credential', "with --push: the hub uses the kubeconfig's own credential; no account is made")
    .option(
      '--hub-kubeconfig <file>',
      'with --push: kubeconfig of the hub (default: $KUBECONFIG, else ~/.asterism/kubeconfig)',
    )
    .option('--hub-context <name>', 'context in it (default: its current one)');
}
