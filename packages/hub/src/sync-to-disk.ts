import { open } from 'node:fs/promises';

/** Waits until a file, or the names in a folder, are where a power cut does not reach them. */
export async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Windows syncs neither folders nor what is open for reading.
    if (process.platform !== 'win32') throw error;
  } finally {
    await handle.close();
  }
}
