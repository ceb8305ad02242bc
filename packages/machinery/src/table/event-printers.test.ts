import { AN_HOUR_AGO, testCells } from './testing/test-cells.ts';

testCells([
  [
    'Event of a series, whose own times and count do not matter',
    '',
    'Event',
    { firstTimestamp: AN_HOUR_AGO, lastTimestamp: AN_HOUR_AGO, count: 3, series: { count: 9 } },
    { 'Last Seen': '<unknown>', 'First Seen': '60m', Count: 9 },
  ],
  [
    'Event of events.k8s.io',
    'events.k8s.io',
    'Event',
    {
      metadata: { name: 'e' },
      eventTime: '2026-01-02T03:03:05.000000Z',
      series: { count: 4, lastObservedTime: '2026-01-02T03:04:00.000000Z' },
      type: 'Normal',
      reason: 'Scheduled',
      regarding: { kind: 'Pod', name: 'p' },
      reportingController: 'scheduler',
      reportingInstance: 's-1',
      note: ' assigned\n',
    },
    {
      'Last Seen': '5s',
      Object: 'pod/p',
      Source: 'scheduler, s-1',
      Message: 'assigned',
      'First Seen': '60s',
      Count: 4,
      Name: 'e',
    },
  ],
]);
