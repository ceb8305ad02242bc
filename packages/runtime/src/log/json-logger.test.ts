import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ClientError } from '@asterism/client';
import { ManualClock } from '@asterism/client/testing';
import { createJsonLogger, type JsonLoggerOptions } from './json-logger.ts';

function logged(options: Omit<JsonLoggerOptions, 'write'> = {}) {
  const lines: string[] = [];
  const clock = new ManualClock();
  const logger = createJsonLogger({ clock, ...options, write: (line) => void lines.push(line) });
  const parsed = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line));
  return { logger, lines, parsed, clock };
}

describe('the JSON logger', () => {
  test('writes a line for each message, with what children were given', () => {
    const { logger, lines, clock } = logged();
    logger.child({ controller: 'web' }).child({ cluster: 'm1' }).info({ name: 'a' }, 'two\nlines');
    const time = clock.wall().toISOString();
    const line = { time, level: 'info', msg: 'two\nlines', controller: 'web', cluster: 'm1', name: 'a' };
    assert.deepEqual(lines, [`${JSON.stringify(line)}\n`]);
  });

  test('leaves out what is below its level', () => {
    const { logger, parsed } = logged({ level: 'warn' });
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger.child({})[level]({}, level);
    assert.deepEqual(
      parsed().map(({ msg }) => msg),
      ['warn', 'error'],
    );
  });

  test('an error is written with its code and its cause, and nothing else that hangs on it', () => {
    const { logger, parsed, lines } = logged();
    const cause = Object.assign(new Error('refused'), { headers: { authorization: 'Bearer hunter2' } });
    logger.warn({ err: new ClientError('no answer', { code: 'ECONNREFUSED', cause }) }, 'failed');
    const err = parsed()[0]?.['err'] as Record<string, unknown>;
    assert.deepEqual([err['message'], err['code']], ['no answer', 'ECONNREFUSED']);
    assert.match(String(err['stack']), /json-logger\.test\.ts/);
    assert.equal((err['cause'] as Error).message, 'refused');
    assert.ok(!lines.join('').includes('hunter2'));
  });

  test('a field that cannot be written costs the fields, not the line', () => {
    const { logger, parsed } = logged();
    const self: Record<string, unknown> = {};
    self['self'] = self;
    logger.info({ self }, 'said');
    logger.info({ big: 5n }, 'said too');
    assert.deepEqual([parsed()[0]?.['msg'], parsed()[1]?.['big']], ['said', '5']);
    assert.match(String(parsed()[0]?.['fieldsLost']), /circular/);
  });
});
