import { systemClock } from '@asterism/client';
import { GROUP } from '@asterism/fleet/api';
import { CUSTOM_RESOURCE_DEFINITIONS, type CustomResourceDefinition } from '@asterism/machinery';
import { annotationsChanged, type Controller, createController, type Request } from '@asterism/runtime';
import { installDefinitions } from './install.ts';

/** There is one thing to see to, whichever definition brought it up. */
const KINDS: Request = { cluster: '', name: 'kinds' };

/**
 * Installs the kinds again where somebody removes a definition while the hub runs: without it every controller of that kind would
 * wait for the next start.
 */
export function createKindsController(): Controller {
  return createController({
    name: 'kinds',
    async reconcile(_, { cluster: { client }, signal, logger }) {
      const installed = await installDefinitions(client, { clock: systemClock, logger, signal });
      if (installed.length === 0) return;
      const message =
        'definitions were removed or changed by somebody, and are installed again; what was of these kinds went with them';
      logger.warn({ definitions: installed }, message);
    },
  }).watches(CUSTOM_RESOURCE_DEFINITIONS, ({ metadata }) => (metadata?.name?.endsWith(`.${GROUP}`) ? [KINDS] : []), {
    transform: trim,
    predicates: [annotationsChanged],
  });
}

/** Other definitions may be many, and large. */
function trim({ metadata }: CustomResourceDefinition): CustomResourceDefinition {
  const { name = '', resourceVersion = '', annotations = {} } = metadata ?? {};
  const spec = { group: '', names: { plural: '', kind: '' }, scope: 'Cluster', versions: [] };
  return { metadata: { name, resourceVersion, annotations }, spec };
}
