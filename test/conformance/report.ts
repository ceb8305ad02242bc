import type { AreaResult, ScenarioResult } from './run-area.ts';

const matched = (scenarios: readonly ScenarioResult[]): number =>
  scenarios.filter(({ difference }) => difference === undefined).length;

/** A line for each area, and last `matched N of M`. */
export function renderResults(results: readonly AreaResult[]): string {
  const rows = results.flatMap(({ area, scenarios }) => {
    const withoutCel = scenarios.filter(({ usesCel }) => !usesCel);
    const row = line(area, scenarios);
    return withoutCel.length === scenarios.length ? [row] : [row, line(`  ${area} without CEL`, withoutCel)];
  });
  const all = results.flatMap(({ scenarios }) => scenarios);
  return [...rows, `matched ${matched(all)} of ${all.length}`, ''].join('\n');
}

function line(title: string, scenarios: readonly ScenarioResult[]): string {
  const [good, all] = [matched(scenarios), scenarios.length];
  const percent = ((100 * good) / all).toFixed(1);
  return `${title.padEnd(24)}${String(good).padStart(5)} of ${String(all).padStart(4)}  ${percent.padStart(5)} %`;
}

/** The names of what differs, each with where it does first, cut to `width` characters a line. */
export function renderDifferences(results: readonly AreaResult[], width: number): string {
  return results
    .flatMap(({ area, scenarios }) => scenarios.map((scenario) => ({ area, ...scenario })))
    .filter(({ difference }) => difference !== undefined)
    .map(({ area, name, difference = '' }) => {
      const lines = difference.split('\n').map((text) => (text.length > width ? `${text.slice(0, width)} …` : text));
      return `${area}/${name}: ${lines.join('\n')}\n`;
    })
    .join('\n');
}
