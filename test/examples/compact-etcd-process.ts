/** `compact-etcd-process.ts URL`: drops all history of an etcd, as a process, for one that stands in a network of its own. */
const [url] = process.argv.slice(2);

async function call(path: string, body: object): Promise<{ header: { revision: string } }> {
  const response = await fetch(`${url}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`etcd answers ${response.status}: ${await response.text()}`);
  return (await response.json()) as { header: { revision: string } };
}

const key = Buffer.from('key').toString('base64');
const { header } = await call('put', { key, value: key });
await call('compaction', { revision: header.revision, physical: true });
