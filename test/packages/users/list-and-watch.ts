import { connectionFromKubeconfig, createClient, createTransport, loadKubeconfig } from '@asterism/client';
import { CONFIG_MAPS } from '@asterism/machinery';

await using transport = createTransport(await connectionFromKubeconfig(await loadKubeconfig(process.argv[2])));
const configMaps = createClient({ transport }).resource(CONFIG_MAPS);
const { items, metadata } = await configMaps.list({ namespace: 'default' });
for (const item of items) process.stdout.write(`listed ${item.metadata?.name}: ${item.data?.colour}\n`);
for await (const event of configMaps.watch({ namespace: 'default', resourceVersion: metadata?.resourceVersion })) {
  if (event.type === 'ADDED') process.stdout.write(`added ${event.object.metadata?.name}\n`);
  if (event.type === 'ADDED') break;
}
