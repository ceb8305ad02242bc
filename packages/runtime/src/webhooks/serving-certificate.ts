import type { Clock } from '@asterism/client';
import type { Logger } from '../log/logger.ts';
import type { Instruments } from '../instruments/instruments.ts';
import { followFiles } from '../providers/follow-files.ts';
import { foldersOf } from '../providers/kubeconfig-source.ts';
import { readServingFiles, type ServingCredentials, type ServingFiles } from './serving-files.ts';

/** Who is told of what is read. */
export interface ServingCertificateReports {
  logger: Logger;
  metrics?: Pick<Instruments, 'webhooks'> | undefined;
}

/** A server's certificate and key, as they stand in files that somebody renews. */
export class ServingCertificate {
  readonly #files: ServingFiles;
  readonly #logger: Logger;
  readonly #metrics: ServingCertificateReports['metrics'];
  #credentials: ServingCredentials;
  /** What was wrong with the files at the last look: told once. */
  #fault: string | undefined;

  /** Rejects where the files cannot be used. */
  static async load(files: ServingFiles, tell: ServingCertificateReports): Promise<ServingCertificate> {
    return new ServingCertificate(files, tell, await readServingFiles(files));
  }

  private constructor(files: ServingFiles, { logger, metrics }: ServingCertificateReports, read: ServingCredentials) {
    this.#files = files;
    this.#logger = logger;
    this.#metrics = metrics;
    this.#credentials = read;
  }

  /** Of the last files that could be used. */
  get options(): ServingCredentials['options'] {
    return this.#credentials.options;
  }

  /** ms since 1970. */
  get notAfter(): number {
    return this.#credentials.notAfter;
  }

  /** Calls back when there is something new in the files, until the signal aborts. Never rejects. */
  async follow(given: { onChange: () => void; rereadMs: number; clock: Clock; signal: AbortSignal }): Promise<void> {
    const { onChange, rereadMs, clock, signal } = given;
    const { certFile, keyFile, clientCaFile = certFile } = this.#files;
    const scan = async (): Promise<ReadonlySet<string>> => {
      if (await this.#reread()) onChange();
      return foldersOf([certFile, keyFile, clientCaFile]);
    };
    await followFiles({ scan, rereadMs, clock, logger: this.#logger, signal });
  }

  /** Resolves with whether there is something new. */
  async #reread(): Promise<boolean> {
    let read: ServingCredentials;
    try {
      read = await readServingFiles(this.#files);
    } catch (err) {
      this.#metrics?.webhooks.certificateRead(false);
      const fault = (err as Error).message;
      if (fault !== this.#fault)
        this.#logger.warn({ why: fault }, 'the new certificate of the webhook server cannot be used');
      this.#fault = fault;
      return false;
    }
    this.#metrics?.webhooks.certificateRead(true);
    this.#fault = undefined;
    if (read.digest === this.#credentials.digest) return false;
    this.#credentials = read;
    const { serialNumber, notAfter } = read;
    this.#logger.info(
      { serialNumber, notAfter: new Date(notAfter).toISOString() },
      'the webhook server has a new certificate',
    );
    return true;
  }
}
