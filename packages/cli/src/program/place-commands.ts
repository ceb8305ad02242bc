import { Option } from 'commander';
import { DIVISIONS } from '../placement/new-policy.ts';
import { type CommandContext, hubCommand, inClusters, namespaced, oneMore, output } from './command-context.ts';

/** `propagate`, `diff`, `why`: where templates go, what differs there, and why. */
export function addPlaceCommands(context: CommandContext): void {
  addPropagate(context);
  addDiff(context);
  addWhy(context);
}

function addPropagate({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'propagate [type] [names...]',
    summary: 'Place templates in clusters by writing a policy; with --dry-run tell what would go where',
    notes:
      'With --dry-run nothing is written: the hub’s own rules are applied to what it holds now, with your rights, and each template is shown as it is and as it would be. Without a template it is those that the files are about, or all that are placed.',
    lines: [
      'propagate deploy/web -n demo -C alder,birch',
      'propagate deploy/web -n demo -C tier=production --weights alder=2,cedar=1 --dependencies',
      'propagate deploy/web -n demo -C all -o yaml',
      'propagate --dry-run -f policy.yaml',
      'propagate --dry-run deploy/web -n demo -C all --division available',
      'propagate --dry-run --without cedar',
      'propagate --dry-run --with oak=alder deploy/web -n demo',
    ],
  });
  inClusters(namespaced(command), 'where to')
    .addOption(
      new Option('--division <how>', 'how replicas are shared; available: by the room that clusters have').choices(
        DIVISIONS,
      ),
    )
    .option('--weights <shares>', 'shares of single clusters, as alder=2,birch=1; all others get none')
    .option('--dependencies', 'with the ConfigMaps, Secrets, volume claims and service accounts that they name')
    .option('--preempt', 'take over templates that a policy of lower priority has placed')
    .option('--priority <number>', 'of policies that select one template the highest has it')
    .option('--name <name>', 'of the policy (default: that of the first template with its kind, as web-deployment)')
    .option('-l, --selector <labels>', 'the objects of the kind with these labels, now and later')
    .option('--dry-run', 'only tell what would be decided')
    .option(
      '-f, --filename <path>',
      'with --dry-run: policies and templates as they would be; file, folder or -',
      oneMore,
    )
    .option('--without <cluster>', 'with --dry-run: as if this cluster were gone; may be given again', oneMore)
    .option(
      '--with <cluster>',
      'with --dry-run: as if another had joined: NAME=LIKE (one like the cluster LIKE), or a file with a Cluster; may be given again',
      oneMore,
    )
    .addOption(output(['json', 'yaml']))
    .action(
      async (type: string | undefined, names: string[], flags: import('../commands/propagate.ts').PropagateFlags) => {
        const { propagate } = await import('../commands/propagate.ts');
        exit(await propagate(type === undefined ? [] : [type, ...names], flags, terminal));
      },
    );
}

function addWhy({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'why <type> [name]',
    summary: 'Tell for each cluster why a template goes there, or does not',
    lines: ['why deploy/web -n demo', 'why deploy/web -n demo -C birch'],
  });
  inClusters(namespaced(command), 'only these clusters')
    .addOption(output(['json']))
    .action(async (type: string, object: string | undefined, flags: import('../commands/why.ts').WhyFlags) => {
      const { why } = await import('../commands/why.ts');
      exit(await why(object === undefined ? [type] : [type, object], flags, terminal));
    });
}

function addDiff({ program, name, terminal, exit }: CommandContext): void {
  const command = hubCommand(program, name, {
    usage: 'diff [type] [names...]',
    summary: 'Compare what templates are to be in each cluster with what stands there',
    notes:
      'Each member is asked by a dry run, as you, what it would make of the template with its share and its overrides; where you may not, it is compared field by field. Exit code: 0 no difference, 1 differences, more where a cluster did not answer.',
    lines: [
      'diff deploy/web -n demo',
      'diff deploy/web -n demo -C birch',
      'diff --all -n demo',
      'diff -f app.yaml -f policy.yaml',
    ],
  });
  inClusters(namespaced(command), 'only these clusters')
    .option(
      '-f, --filename <path>',
      'as if these were applied: templates, policies, overrides; file, folder or -',
      oneMore,
    )
    .option('-l, --selector <labels>', 'only templates of the type with these labels')
    .option('--all', 'all that is placed in the namespace')
    .option('-A, --all-namespaces', 'all that is placed')
    .action(async (type: string | undefined, names: string[], flags: import('../commands/diff.ts').DiffFlags) => {
      const { diff } = await import('../commands/diff.ts');
      exit(await diff(type === undefined ? [] : [type, ...names], flags, terminal));
    });
}
