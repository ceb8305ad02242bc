import { setTimeout as sleep } from 'node:timers/promises';
import { firstDifference } from './first-difference.ts';
import { startFreshServer } from './fresh-server.ts';
import { normalise } from './normalise.ts';
import { runScenario } from './run-scenario.ts';
import { readScenarios, type Scenario, type ScenarioFile } from './scenario.ts';
import type { Target } from './send-request.ts';

export interface AreaResult {
  area: string;
  scenarios: ScenarioResult[];
}

export interface ScenarioResult {
  name: string;
  /** The scenario has CEL rules or expressions in it. */
  usesCel: boolean;
  /** Where the answers first differ, in lines; undefined: they are the same. */
  difference?: string;
}

const SECOND_MS = 1_000;
/** Enough for nearly every scenario. */
const ROOM_MS = 300;

/**
 * Managers of fields stand in the order of the whole second in which they came, and those of one second in that of their names. So a
 * scenario is begun where all of it finds room in one, as it did when it was recorded.
 */
async function roomInSecond(): Promise<void> {
  const left = SECOND_MS - (Date.now() % SECOND_MS);
  if (left < ROOM_MS) await sleep(left);
}

/** Runs the scenarios of a file, those that `wanted` says, one after the other against a server that is new. */
export async function runArea(file: ScenarioFile, wanted: (name: string) => boolean): Promise<AreaResult> {
  const scenarios = readScenarios(file).filter(({ name }) => wanted(name));
  if (scenarios.length === 0) return { area: file.area, scenarios: [] };
  await using server = await startFreshServer();
  const results: ScenarioResult[] = [];
  for (const scenario of scenarios) {
    await roomInSecond();
    const difference = await compare(scenario, server.target);
    const usesCel = JSON.stringify(scenario).includes('x-kubernetes-validations');
    results.push({ name: scenario.name, usesCel, ...(difference === undefined ? {} : { difference }) });
  }
  return { area: file.area, scenarios: results };
}

async function compare(scenario: Scenario, target: Target): Promise<string | undefined> {
  try {
    const { recorded, own } = await runScenario(scenario, target);
    const [expected, found] = [normalise(scenario, recorded), normalise(scenario, own)];
    for (const [i, step] of recorded.entries()) {
      const difference = firstDifference(expected[i], found[i]);
      if (difference !== undefined) return `${step.what}: ${difference}`;
    }
    return undefined;
  } catch (error) {
    return `could not be run: ${error instanceof Error ? error.message : String(error)}`;
  }
}
