import { wallNow } from '@asterism/client';
import { deepEqual, formatTime, setCondition } from '@asterism/machinery';
import { type Controller, createController } from '@asterism/runtime';
import { HUB_CONFIGURATION, HUB_CONFIGURATIONS, type HubConfiguration } from '../../api/index.ts';
import { readApprovalRules } from './approval-rules.ts';

/** Says in the status of a HubConfiguration whether all of it counts. */
export function createConfigurationController(options: { now?: () => number } = {}): Controller {
  const { now = wallNow } = options;
  return createController({
    name: 'hub-configuration',
    async reconcile({ name }, { cluster: { client, cache }, signal }) {
      const configuration = cache.get(HUB_CONFIGURATIONS, { name });
      if (!configuration) return;
      const observedGeneration = configuration.metadata.generation ?? 1;
      const conditions = setCondition(
        configuration.status?.conditions,
        { type: 'Valid', ...verdictOn(configuration), observedGeneration },
        formatTime(now()),
      );
      const status = { ...configuration.status, observedGeneration, conditions };
      if (deepEqual(status, configuration.status)) return;
      await client.resource(HUB_CONFIGURATIONS).update({ ...configuration, status }, { subresource: 'status', signal });
    },
  }).for(HUB_CONFIGURATIONS);
}

function verdictOn(configuration: HubConfiguration): { status: 'True' | 'False'; reason: string; message: string } {
  if (configuration.metadata.name !== HUB_CONFIGURATION) {
    const message = `nothing of this counts: the hub looks at the one named "${HUB_CONFIGURATION}"`;
    return { status: 'False', reason: 'OtherName', message };
  }
  const { rules, faults } = readApprovalRules(configuration);
  if (faults.length > 0) return { status: 'False', reason: 'FaultyRules', message: faults.join('; ') };
  return { status: 'True', reason: 'AllRulesCount', message: `${rules.length} approval rules` };
}
