import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Headers } from '@asterism/client';
import { admitCall } from './admit-call.ts';
import { admitDestination } from './admit-destination.ts';
import { callerHeader } from './caller-header.ts';
import type { ReachMode } from './reach-mode.ts';

const LISTED = ['https://registry.corp:443', 'http://localhost:9000'];
const ANN = callerHeader({ user: 'ann', groups: [] });

interface Row {
  name: string;
  path?: string;
  method?: string;
  headers?: Headers;
  upgrade?: boolean;
  mode?: ReachMode;
  listed?: string[];
  refused?: RegExp;
}

const notListed = (origin: string): RegExp =>
  new RegExp(`^${origin} is not among .* administrator lists them \\(aster agent --allow-destination ${origin}\\)$`);

const rows: Row[] = [
  { name: 'what is listed' },
  { name: 'by any method', method: 'DELETE' },
  { name: 'with its default port named, and its host in capitals', path: '//https/REGISTRY.corp:443/v2/' },
  { name: 'by an upgrade', upgrade: true },
  { name: 'for somebody whose name is the hub’s own', headers: callerHeader({ user: 'system:admin', groups: [] }) },
  { name: 'nothing, where nothing is listed', listed: [], refused: notListed('https://registry.corp:443') },
  {
    name: 'not another host',
    path: '//https/registry.corp.evil/v2/',
    refused: notListed('https://registry.corp.evil:443'),
  },
  {
    name: 'not another port',
    path: '//https/registry.corp:8443/v2/',
    refused: notListed('https://registry.corp:8443'),
  },
  { name: 'not another scheme', path: '//http/registry.corp:443/v2/', refused: notListed('http://registry.corp:443') },
  { name: 'not an address for a name', path: '//http/127.0.0.1:9000/', refused: notListed('http://127.0.0.1:9000') },
  { name: 'not a part of a name', path: '//https/corp/v2/', refused: notListed('https://corp:443') },
  {
    name: 'not what hides behind a user',
    path: '//https/registry.corp@evil/v2/',
    refused: /HOST:PORT, and nothing else/,
  },
  {
    name: 'not the metadata of a cloud',
    path: '//http/169.254.169.254/latest',
    refused: notListed('http://169.254.169.254:80'),
  },
  { name: 'not for the hub itself', headers: {}, refused: /does not say whose call it is/ },
  { name: 'not by a claim', headers: { 'impersonate-user': 'ann' }, refused: /does not say whose call it is/ },
  { name: 'readonly: GET', mode: 'readonly' },
  { name: 'readonly: HEAD', mode: 'readonly', method: 'HEAD' },
  {
    name: 'readonly: no POST',
    mode: 'readonly',
    method: 'POST',
    refused: /"readonly", and this is "post https:\/\/regis/,
  },
  { name: 'readonly: no upgrade', mode: 'readonly', upgrade: true, refused: /"readonly"/ },
  { name: 'off: nothing', mode: 'off', refused: /"off"/ },
];

describe('what an agent lets through to other servers', () => {
  for (const row of rows) {
    test(row.name, () => {
      const { method = 'GET', path = '//https/registry.corp/v2/?n=1', headers = ANN, upgrade = false } = row;
      const connection = upgrade ? { connection: 'Upgrade', upgrade: 'websocket' } : {};
      const { listed: destinations = LISTED, mode = 'impersonate' } = row;
      const request = { method, path, headers: { ...headers, ...connection } };
      const outcome = admitDestination(request, { destinations, mode, upgrade });
      if (row.refused) assert.match('refused' in outcome ? outcome.refused : 'admitted', row.refused);
      else assert.deepEqual(outcome, { method, path, headers: connection });
    });
  }

  test('no credential and no claim goes along', () => {
    const headers = {
      ...callerHeader({ user: 'ann', groups: ['a'] }),
      'impersonate-group': 'system:masters',
      'x-remote-user': 'root',
      'asterism-x': 'y',
      authorization: 'Bearer x',
      cookie: 'y',
      accept: 'text/html',
    };
    const request = { method: 'GET', path: '//http/localhost:9000/', headers };
    const outcome = admitDestination(request, { destinations: LISTED, mode: 'impersonate', upgrade: false });
    assert.deepEqual('headers' in outcome && outcome.headers, { accept: 'text/html' });
  });

  test('an agent of before destinations, and the door to the API server, refuse how they are written', () => {
    const request = { method: 'GET', path: '//https/registry.corp:443/v2/', headers: ANN };
    const outcome = admitCall(request, { syncMode: 'Pull', mode: 'impersonate', upgrade: false });
    assert.match('refused' in outcome ? outcome.refused : '', /begins with one \//);
  });
});
