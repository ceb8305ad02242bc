import { type CommandContext, hubCommand, inClusters, namespaced } from './command-context.ts';

/** `exec`, `logs`, `port-forward`, `kubeconfig`: what leads into members. */
export function addReachCommands(context: CommandContext): void {
  addExec(context);
  addLogs(context);
  addPortForward(context);
  addKubeconfig(context);
}

function addKubeconfig({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'kubeconfig',
    summary: 'Print a kubeconfig with a context for the hub, for search and for each member, or write it to a file',
    lines: ['kubeconfig --merge', 'kubeconfig -C edge-1,edge-2 -o fleet.kubeconfig', 'kubeconfig --merge --prune'],
  });
  inClusters(command, 'contexts of these members alone')
    .option('--all', 'contexts of all members (the default)')
    .option('-o, --output <file>', 'write it there, readable for you alone (default: stdout)')
    .option(
      '--merge',
      'into the file, leaving all else in it as it is (default file: the first of $KUBECONFIG, else ~/.kube/config)',
    )
    .option('--prune', 'with --merge: take out the contexts of members that are gone')
    .option('--name <name>', 'name of the context of the hub; the others begin with it', 'asterism')
    .action(async (flags: import('../commands/kubeconfig.ts').KubeconfigFlags) => {
      const { writeContexts } = await import('../commands/kubeconfig.ts');
      exit(await writeContexts(flags, terminal));
    });
}

const WHERE = 'look in these members alone (default: find it by itself)';

/** What the commands that look for a pod say of that; at the end of their help. */
const FINDING = `POD may be TYPE/NAME of what has pods: the first that is ready is taken. Its cluster is found through search, else by asking every
member; where there is one of that name in several clusters, -C says which.`;

function addExec({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'exec <pod> <command...>',
    summary: 'Run a command in a container, in whichever member that is; ends with its exit code',
    notes: FINDING,
    lines: ['exec web-0 -n demo -- date', 'exec -it deploy/web -n demo -c app -C alder -- sh'],
  });
  inClusters(namespaced(command), WHERE)
    .option('-c, --container <name>', "container (default: the pod's own choice, else its first)")
    .option('-i, --stdin', 'hand on standard input')
    .option('-t, --tty', 'with a terminal')
    .option('-q, --quiet', 'print what the command prints and nothing else')
    .action(async (pod: string, words: string[], flags: import('../commands/exec.ts').ExecFlags) => {
      const { exec } = await import('../commands/exec.ts');
      const { processStreams } = await import('../output/standard-streams.ts');
      exit(await exec(pod, words, flags, { terminal, streams: processStreams() }));
    });
}

function addLogs({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'logs [pod]',
    summary: 'Print the log of a container, in whichever member that is',
    notes: FINDING,
    lines: ['logs web-0 -n demo', 'logs -f deploy/web -n demo --tail 20', 'logs -l app=web -n demo -C alder --prefix'],
  });
  inClusters(namespaced(command), WHERE)
    .option('-c, --container <name>', "container (default: the pod's own choice, else its first)")
    .option('--all-containers', 'of every container of the pod')
    .option('-l, --selector <labels>', 'of every pod with these labels')
    .option('-f, --follow', 'stay and print what comes')
    .option('-p, --previous', 'of the container that ran before, where it was restarted')
    .option('--tail <lines>', 'the last lines alone; -1 is all (default: all, with -l 10 of each)')
    .option('--since <time>', 'what is no older: 30s, 5m, 2h')
    .option('--since-time <time>', 'what is no older: 2026-01-31T12:00:00Z')
    .option('--timestamps', 'with the time before each line')
    .option('--prefix', 'with cluster, pod and container before each line')
    .option('--max-log-requests <number>', 'how many logs -f may follow at once', '5')
    .action(async (pod: string | undefined, flags: import('../commands/logs.ts').LogsFlags) => {
      const { logs } = await import('../commands/logs.ts');
      const { processStreams } = await import('../output/standard-streams.ts');
      exit(await logs(pod, flags, { terminal, streams: processStreams() }));
    });
}

function addPortForward({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'port-forward <pod> <ports...>',
    summary: 'Lead local ports to those of a pod, in whichever member that is, until Ctrl-C',
    notes: `Ports: LOCAL:REMOTE, PORT for the same on both sides, :REMOTE for any that is free here.\n\n${FINDING}`,
    lines: [
      'port-forward web-0 -n demo 8080:80',
      'port-forward svc/web -n demo :http -C alder',
      'port-forward deploy/web 8080 9090',
    ],
  });
  inClusters(namespaced(command), WHERE)
    .option('--address <addresses>', 'where to listen, with commas; localhost is 127.0.0.1 and ::1', 'localhost')
    .action(async (pod: string, ports: string[], flags: import('../commands/port-forward.ts').PortForwardFlags) => {
      const { portForward } = await import('../commands/port-forward.ts');
      const { stopSignal } = await import('../service/stop-signal.ts');
      exit(await portForward(pod, ports, flags, { terminal, stopSignal }));
    });
}
