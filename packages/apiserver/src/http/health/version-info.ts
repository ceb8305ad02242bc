/** What `/version` answers. Clients read major and minor to know what they may use. */
export interface VersionInfo {
  major: string;
  minor: string;
  emulationMajor: string;
  emulationMinor: string;
  minCompatibilityMajor: string;
  minCompatibilityMinor: string;
  gitVersion: string;
  gitCommit: string;
  gitTreeState: string;
  buildDate: string;
  goVersion: string;
  compiler: string;
  platform: string;
}

/** The Kubernetes API that the built-in kinds are of. */
export const DEFAULT_GIT_VERSION = 'v1.36.2';

/** `v1.36.2+asterism.1` gives major 1, minor 36. Clients expect every field, Go's too. */
export function versionInfo(gitVersion: string): VersionInfo {
  const [, major = '1', minor = '36'] = /^v?(\d+)\.(\d+)/.exec(gitVersion) ?? [];
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  return {
    major,
    minor,
    emulationMajor: major,
    emulationMinor: minor,
    minCompatibilityMajor: major,
    minCompatibilityMinor: String(Math.max(0, Number(minor) - 1)),
    gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${architecture}`,
  };
}
