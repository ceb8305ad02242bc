import type { Detail, Goal } from './bench.ts';
import { formatNumber } from './format-number.ts';
import { type Finding, missed } from './judge.ts';
import type { Report } from './report.ts';
import { renderTable, type TableStyle } from './render-table.ts';

const FIGURE_COLUMNS = ['figure', 'value', 'unit', 'baseline', 'its value', 'ratio', 'goal', 'holds'];

/** The whole report: environment, calibration, one line for each figure, details, what was missed and why. */
export function renderReport(report: Report, style: TableStyle): string {
  const parts = [
    environmentLines(report).join(style === 'markdown' ? '  \n' : '\n'),
    renderTable(FIGURE_COLUMNS, report.figures.map(figureRow), style),
    ...notes(report, style),
    ...report.details.map((detail) => renderDetail(detail, style)),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

/** The lines that `--check` ends with where goals are missed. */
export function renderMissed(findings: readonly Finding[]): string {
  return missed(findings)
    .map(({ name, goal, holds, notMeasured, ...finding }) => {
      if (holds === 'not measured') return `${name}: not measured: ${notMeasured}`;
      const value = goal?.of === 'ratio' ? finding.ratio : finding.value;
      return `${name}: ${formatNumber(value ?? Number.NaN)}, and the goal is ${formatGoal(goal)}`;
    })
    .join('\n');
}

/** `ratio ≤ 0.5`, `≥ 300`. */
export function formatGoal(goal: Goal | undefined): string {
  if (goal === undefined) return '–';
  const bounds = [
    ...(goal.atLeast === undefined ? [] : [`≥ ${formatNumber(goal.atLeast)}`]),
    ...(goal.atMost === undefined ? [] : [`≤ ${formatNumber(goal.atMost)}`]),
  ].join(', ');
  return goal.of === 'ratio' ? `ratio ${bounds}` : bounds;
}

function environmentLines({ bench, environment, calibration, seconds, failure }: Report): string[] {
  const { date, node, cpu, cores, memoryGiB, system, loadAverage, commit } = environment;
  return [
    `${bench}, ${date}${commit === undefined ? '' : `, commit ${commit}`}, ${Math.round(seconds)} s`,
    `Node ${node} on ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}; load average at the start ${loadAverage.join(', ')}`,
    ...calibration.map(
      ({ name, opsPerSecond, msEach }) =>
        `calibration: ${name}: ${formatNumber(opsPerSecond)} ops/s, ${formatNumber(msEach)} ms each`,
    ),
    ...(failure === undefined ? [] : [`the bench failed: ${failure}`]),
  ];
}

function figureRow(finding: Finding): string[] {
  const { baseline, goal, holds, name, ratio, unit, value } = finding;
  return [
    name,
    value === undefined ? 'not measured' : formatNumber(value),
    unit,
    baseline === undefined ? '–' : `${baseline.name}${baseline.quoted ? ' (quoted)' : ''}`,
    baseline?.value === undefined ? '–' : formatNumber(baseline.value),
    ratio === undefined ? '–' : `${formatNumber(ratio)} ×`,
    formatGoal(goal),
    holds === 'no goal' ? '–' : holds,
  ];
}

function notes({ figures }: Report, style: TableStyle): string[] {
  const bullet = style === 'markdown' ? '- ' : '';
  const lines = figures
    .filter(({ notMeasured }) => notMeasured !== undefined)
    .map(({ name, notMeasured }) => `${bullet}not measured: ${name}: ${notMeasured}`);
  return lines.length === 0 ? [] : [lines.join('\n')];
}

function renderDetail({ title, columns, rows }: Detail, style: TableStyle): string {
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatNumber(cell) : cell)));
  const heading = style === 'markdown' ? `**${title}**` : title;
  return `${heading}\n${style === 'markdown' ? '\n' : ''}${renderTable(columns, cells, style)}`;
}
