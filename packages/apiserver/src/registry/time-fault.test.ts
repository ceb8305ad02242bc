import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeFault } from './time-fault.ts';

const AS = 'as "2006-01-02T15:04:05Z07:00"';
const rows: [text: string, fault: string | undefined][] = [
  ['2020-01-02T03:04:05Z', undefined],
  ['2020-02-29T23:59:59.123456+05:30', undefined],
  ['2020-02-29T23:59:59.123456Z', undefined],
  ['2020-04-31T03:04:05Z', 'parsing time "2020-04-31T03:04:05Z": day out of range'],
  ['2020-04-00T03:04:05Z', 'parsing time "2020-04-00T03:04:05Z": day out of range'],
  ['', `parsing time "" ${AS}: cannot parse "" as "2006"`],
  ['yesterday', `parsing time "yesterday" ${AS}: cannot parse "yesterday" as "2006"`],
  ['2020', `parsing time "2020" ${AS}: cannot parse "" as "-"`],
  ['2020-01-02', `parsing time "2020-01-02" ${AS}: cannot parse "" as "T"`],
  ['2020-01-02 03:04:05Z', `parsing time "2020-01-02 03:04:05Z" ${AS}: cannot parse " 03:04:05Z" as "T"`],
  ['2020-01-02T03:04:05', `parsing time "2020-01-02T03:04:05" ${AS}: cannot parse "" as "Z07:00"`],
  ['2020-13-02T03:04:05Z', 'parsing time "2020-13-02T03:04:05Z": month out of range'],
  ['2021-02-29T03:04:05Z', 'parsing time "2021-02-29T03:04:05Z": day out of range'],
  ['2020-01-02T24:04:05Z', 'parsing time "2020-01-02T24:04:05Z": hour out of range'],
  ['2020-01-02T03:04:05Zx', 'parsing time "2020-01-02T03:04:05Zx": extra text: "x"'],
];

for (const [text, fault] of rows) {
  test(JSON.stringify(text), () => assert.equal(timeFault(text), fault));
}
