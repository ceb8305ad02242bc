import { type Command, Option } from 'commander';
import { parseSyncMode, SYNC_MODES, type SyncMode } from '../service/sync-mode.ts';
import {
  type CommandContext,
  destinationFlags,
  examples,
  nameSubcommands,
  oneMore,
  permissionFlags,
  reachFlag,
} from './command-context.ts';

/** `up`, `hub`, `agent`: what runs until it is stopped. */
export function addServiceCommands(context: CommandContext): void {
  addUp(context);
  addHub(context);
  addAgent(context);
}

function addUp({ program, name, terminal, exit }: CommandContext): void {
  program
    .command('up')
    .description('Start an embedded hub with simulated members joined to it, and stay up')
    .option('--data-dir <dir>', 'where everything is kept (default: ~/.asterism)')
    .option('--listen <host:port>', 'where the hub listens', '127.0.0.1:7443')
    .option('--members <number>', 'how many simulated members', '3')
    .option('--demo', 'place a demo application over the members and show what became of it')
    .option('--search-store <store>', 'where search keeps its rows: sqlite, in the data dir')
    .addHelpText(
      'after',
      examples(name, ['up --demo', 'up --data-dir /var/lib/asterism --listen 0.0.0.0:7443 --members 0']),
    )
    .action(async (flags: import('../up/up-options.ts').UpFlags) => {
      const { up } = await import('../up/up.ts');
      exit(await up(flags, terminal));
    });
}

/** Runs a service; when it has ended, nothing that it left keeps the process. */
async function serve(run: () => Promise<number>): Promise<number> {
  const { endSoon } = await import('../service/end-soon.ts');
  return await run().finally(endSoon);
}

/** What holds for every service; at the end of its help. */
const AS_A_SERVICE = `
Logs are JSON lines on stderr ($ASTERISM_LOG_LEVEL: debug, info, warn, error). SIGTERM and SIGINT stop it cleanly.
`;

const templates = () =>
  new Option(
    '--templates <where>',
    'where the objects that are placed live: in the cluster of --kubeconfig (host), or in an API server of our own beside it (embedded), for a cluster that also runs workloads',
  ).choices(['host', 'embedded']);

function addHub({ program, name, terminal, exit }: CommandContext): void {
  const hub = program
    .command('hub')
    .description('Run a hub as a service: with an API server of its own, or on an existing kube-apiserver')
    .enablePositionalOptions()
    .option('--kubeconfig <file>', 'run on the kube-apiserver of this kubeconfig (default: an API server of its own)')
    .option('--context <name>', 'context in it (default: its current one)')
    .addOption(templates())
    .option(
      '--data-dir <dir>',
      'where keys and data are kept; one hub at a time (default: ~/.asterism, with --kubeconfig ~/.asterism/hub)',
    )
    .option('--listen <host:port>', 'where it listens; port 0 takes a free one', '127.0.0.1:7443')
    .option(
      '--advertise <host[:port]>',
      'the name or address by which others reach it (default: where it listens); the port only with --kubeconfig',
    )
    .addOption(
      new Option(
        '--serve <who>',
        'who of several processes on one kube-apiserver takes calls: the one that leads (leader, the default), or all, where it gets to the Endpoints of a Service',
      ).choices(['leader', 'all']),
    )
    .option(
      '--replica-listen <host:port>',
      'where the others of them bring their links (default: the host of --listen, a free port)',
    )
    .option('--replica-advertise <host[:port]>', 'how they reach it there (default: the host of --advertise)')
    .option(
      '--status-listen <[host:]port>',
      'where /metrics, /healthz and /readyz of its controllers are served, in plain HTTP and to whoever asks; without a host to this machine alone (default: nowhere)',
    )
    .option(
      '--cluster-signing-duration <time>',
      "how long the certificates are good for that it signs, from 1m to 365d; agents' are, for 90d at most, and are renewed at two thirds of that (default: 365d)",
    )
    .option(
      '--reach-calls-per-caller <number>',
      'how many calls of one user to one member may be under way (default: 200)',
    )
    .option('--reach-calls-per-cluster <number>', 'how many of all users to one member (default: 1000)')
    .option('--audit-policy-file <file>', 'what the audit log holds: an audit.k8s.io/v1 Policy (YAML)')
    .option('--audit-log-path <file>', 'where the audit log is written, in JSON lines; - is standard output')
    .option('--audit-log-maxsize <MB>', 'the size at which it is renamed and begun anew (default: 100)')
    .option('--audit-log-maxage <days>', 'how long renamed files are kept (default: for ever)')
    .option('--audit-log-maxbackup <number>', 'how many renamed files are kept (default: all)')
    .option(
      '--oidc-issuer-url <url>',
      'OpenID provider whose ID tokens name people: https, as the tokens have it in iss',
    )
    .option('--oidc-client-id <id>', 'the client for which its tokens must be')
    .option('--oidc-username-claim <claim>', 'the claim that is the name of the user (default: sub)')
    .option(
      '--oidc-username-prefix <prefix>',
      'what stands before it here; - is nothing (default: the issuer and #, with email nothing)',
    )
    .option('--oidc-groups-claim <claim>', 'the claim that lists the groups of the user (default: no groups)')
    .option('--oidc-groups-prefix <prefix>', 'what stands before each here (default: nothing)')
    .option(
      '--oidc-required-claim <claim=value>',
      'a claim that a token must have, with its value; may be given more than once',
      oneMore,
    )
    .option('--oidc-ca-file <file>', "authority of the provider's certificate (PEM; default: those that Node.js knows)")
    .option('--oidc-signing-algs <a,b>', 'how its tokens may be signed (default: RS256)')
    .addHelpText(
      'after',
      `
Prints \`ready https://HOST:PORT\` when it works, and writes DIR/kubeconfig for its administrator. With --kubeconfig it prints
\`serving https://HOST:PORT\` when it serves and \`leading\` when it leads: of several on one kube-apiserver one does.
${AS_A_SERVICE}${examples(name, [
  'hub --data-dir /var/lib/asterism --listen 0.0.0.0:7443 --advertise hub.example.org',
  'hub --kubeconfig host.kubeconfig --advertise 10.0.0.7:7443 --listen 0.0.0.0:7443',
  'hub --kubeconfig host.kubeconfig --templates embedded',
])}`,
    )
    .action(async (flags: import('../service/hub-options.ts').HubFlags) => {
      const { runHubService } = await import('../service/run-hub-service.ts');
      exit(await serve(() => runHubService(flags)));
    });
  hub
    .command('manifests')
    .description('Print the service account and the rights that a hub needs in the cluster of --kubeconfig, as YAML')
    .addOption(templates().default('host'))
    .addHelpText(
      'after',
      examples(name, ['hub manifests | kubectl apply -f -', 'hub manifests --templates embedded > hub-rights.yaml']),
    )
    .action(async (flags: { templates: 'host' | 'embedded' }) => {
      const { printHubManifests } = await import('../commands/manifests.ts');
      exit(await printHubManifests(flags.templates, terminal));
    });
  nameSubcommands(hub);
}

const mode = () =>
  new Option(
    '--mode <mode>',
    'who writes to the cluster: the hub, which dials it (push), or the agent (pull, dual); required',
  )
    .choices(SYNC_MODES)
    .argParser(parseSyncMode);

function addAgent({ program, name, exit, terminal }: CommandContext): void {
  const agent = program
    .command('agent')
    .description('Run the agent of a cluster as a service: joins it to a hub and keeps it joined')
    .enablePositionalOptions();
  memberFlags(agent);
  hubFlags(agent);
  factFlags(probeListen(agent))
    .addHelpText(
      'after',
      `
Before it starts, what \`${name} agent manifests\` prints must stand in the cluster. What the agent keeps is in that cluster
too, in the Secret asterism-system/agent-credential: once it has joined it needs no token. Prints \`ready NAME\` when the
cluster has joined and is connected. It goes to the hub by the proxy of $HTTPS_PROXY, where that is set and $NO_PROXY does not
name the hub.
${AS_A_SERVICE}${examples(name, [
  'agent --kubeconfig edge.kubeconfig --name edge-1 --mode pull --hub https://hub:7443 --hub-ca sha256:… --token-file token',
  'agent --kubeconfig eu.kubeconfig --name eu-1 --mode push --hub https://hub:7443 --hub-ca hub-ca.crt --token-file - < token',
])}`,
    )
    .action(async (flags: import('../service/agent-options.ts').AgentFlags) => {
      const { runAgentService } = await import('../service/run-agent-service.ts');
      exit(await serve(() => runAgentService(flags)));
    });
  permissionFlags(
    agent
      .command('manifests')
      .description(
        'Print what must stand in a cluster before its agent starts, as YAML: service accounts and their rights',
      )
      .addOption(mode().makeOptionMandatory()),
  )
    .addHelpText(
      'after',
      examples(name, [
        'agent manifests --mode pull | kubectl --kubeconfig edge.kubeconfig apply -f -',
        'agent manifests --mode pull --permissions workloads --namespaces shop,blog > edge-rights.yaml',
      ]),
    )
    .action(async (flags: import('../service/permission-flags.ts').PermissionFlags & { mode: SyncMode }) => {
      const { printMemberManifests } = await import('../commands/manifests.ts');
      exit(await printMemberManifests(flags, terminal));
    });
  nameSubcommands(agent);
}

function memberFlags(agent: Command): void {
  agent
    .option('--kubeconfig <file>', "kubeconfig of this cluster (default: the pod's service account)")
    .option('--context <name>', 'context in it (default: its current one)')
    .option(
      '--endpoint <url>',
      'where the hub finds the API server of this cluster (push; default: where the agent does)',
    )
    .option(
      '--endpoint-ca <file>',
      'authority of the certificate that is shown there (PEM; default: that of the kubeconfig)',
    );
  reachFlag(agent);
  destinationFlags(agent);
}

/** What is required is checked with the flags' values: commander would demand it of `agent manifests` too. */
function hubFlags(agent: Command): void {
  agent
    .option('--name <name>', 'the name that this cluster has, or shall have, in the hub; required')
    .addOption(mode())
    .option('--hub <url>', 'address of the hub, https://HOST:PORT; required')
    .option(
      '--hub-ca <pin|file>',
      'how the hub is known: the pin sha256:… of its authority, or the file with that (PEM); required',
    )
    .option(
      '--token-file <file>',
      'bootstrap token for the first time, - for stdin (default: $ASTERISM_TOKEN); never an argument, which others could see',
    );
}

/** What the hub is told when the cluster joins; later it is edited there. */
function factFlags(agent: Command): Command {
  return agent
    .option('--provider <name>', 'who runs the cluster, told to the hub when it joins')
    .option('--region <name>', 'its region, told likewise')
    .option('--zones <a,b>', 'its zones, told likewise')
    .option('--labels <k=v,…>', 'labels of the Cluster in the hub, told likewise');
}

const probeListen = (agent: Command) =>
  agent.option(
    '--probe-listen <[host:]port>',
    "where a kubelet's probes are answered, in plain HTTP: /healthz, and /readyz once it has joined (default: nowhere)",
  );
