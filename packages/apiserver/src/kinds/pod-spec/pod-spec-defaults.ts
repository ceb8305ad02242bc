import { formatQuantity, parseQuantity } from '@asterism/machinery';
import {
  type Fields,
  fieldsAt,
  listAt,
  optionalFields,
  setDefaults,
  setDefaultText,
  textAt,
} from '../fields/draft-fields.ts';
import { defaultPullPolicy } from './image-tag.ts';

/** Defaults of a PodTemplateSpec, as of `SetDefaults_PodSpec` and what it calls. */
export function defaultPodTemplate(template: Fields): void {
  defaultPodSpec(fieldsAt(template, 'spec'));
}

/** What is the same for a pod and for a template of pods. */
export function defaultPodSpec(spec: Fields): void {
  setDefaultText(spec, 'restartPolicy', 'Always');
  setDefaultText(spec, 'dnsPolicy', 'ClusterFirst');
  setDefaultText(spec, 'schedulerName', 'default-scheduler');
  setDefaults(spec, { terminationGracePeriodSeconds: 30, securityContext: {} });
  mirrorServiceAccount(spec);
  roundResources(optionalFields(spec, 'overhead'));
  defaultResources(optionalFields(spec, 'resources'));
  for (const key of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of listAt(spec, key)) defaultContainer(container);
  }
  for (const volume of listAt(spec, 'volumes')) defaultVolume(volume);
}

/** `serviceAccount` is the old name of `serviceAccountName`; both are shown. */
function mirrorServiceAccount(spec: Fields): void {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (name === '') return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function defaultContainer(container: Fields): void {
  if (!container.imagePullPolicy) container.imagePullPolicy = defaultPullPolicy(textAt(container, 'image'));
  setDefaultText(container, 'terminationMessagePath', '/dev/termination-log');
  setDefaultText(container, 'terminationMessagePolicy', 'File');
  defaultResources(optionalFields(container, 'resources'));
  for (const port of listAt(container, 'ports')) setDefaultText(port, 'protocol', 'TCP');
  for (const variable of listAt(container, 'env')) {
    const source = optionalFields(variable, 'valueFrom');
    if (source) defaultReferences(source);
  }
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = optionalFields(container, key);
    if (probe) defaultProbe(probe);
  }
  const lifecycle = optionalFields(container, 'lifecycle');
  if (!lifecycle) return;
  for (const key of ['postStart', 'preStop']) defaultHttpGet(optionalFields(lifecycle, key));
}

function defaultResources(resources: Fields | undefined): void {
  roundResources(optionalFields(resources, 'requests'));
  roundResources(optionalFields(resources, 'limits'));
}

const MILLI = 1_000_000n;

/** Amounts are kept to a thousandth; what is finer is rounded up. */
function roundResources(list: Fields | undefined): void {
  if (!list) return;
  for (const [name, amount] of Object.entries(list)) {
    // In its canonical text only such an amount is finer.
    if (typeof amount !== 'string' || !/[nu]$|e-/.test(amount)) continue;
    const { nanos, format } = parseQuantity(amount);
    const finer = nanos % MILLI;
    const whole = nanos - finer;
    const rounded = finer === 0n ? whole : whole + (nanos < 0n ? -MILLI : MILLI);
    list[name] = formatQuantity({ nanos: rounded, format });
  }
}

const PROBE_DEFAULTS = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

function defaultProbe(probe: Fields): void {
  for (const [key, value] of Object.entries(PROBE_DEFAULTS)) if (!probe[key]) probe[key] = value;
  defaultHttpGet(probe);
  const grpc = optionalFields(probe, 'grpc');
  if (grpc) setDefaults(grpc, { service: '' });
}

function defaultHttpGet(handler: Fields | undefined): void {
  const httpGet = optionalFields(handler, 'httpGet');
  if (!httpGet) return;
  setDefaultText(httpGet, 'path', '/');
  setDefaultText(httpGet, 'scheme', 'HTTP');
}

/** References of a variable or a file to a field of its own pod. */
function defaultReferences(source: Fields): void {
  const fieldRef = optionalFields(source, 'fieldRef');
  if (fieldRef) setDefaultText(fieldRef, 'apiVersion', 'v1');
  const resourceRef = optionalFields(source, 'resourceFieldRef');
  if (resourceRef) setDefaults(resourceRef, { divisor: '0' });
}

/** 0644 */
const DEFAULT_MODE = 420;

function defaultVolume(volume: Fields): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {};
  for (const key of ['configMap', 'secret', 'downwardAPI', 'projected']) {
    const source = optionalFields(volume, key);
    if (source) setDefaults(source, { defaultMode: DEFAULT_MODE });
  }
  for (const item of listAt(optionalFields(volume, 'downwardAPI'), 'items')) defaultReferences(item);
  for (const source of listAt(optionalFields(volume, 'projected'), 'sources')) {
    const token = optionalFields(source, 'serviceAccountToken');
    if (token) setDefaults(token, { expirationSeconds: 3600 });
    for (const item of listAt(optionalFields(source, 'downwardAPI'), 'items')) defaultReferences(item);
  }
  const image = optionalFields(volume, 'image');
  if (image && !image.pullPolicy) image.pullPolicy = defaultPullPolicy(textAt(image, 'reference'));
  defaultVolumeSource(volume);
  const claim = optionalFields(optionalFields(volume, 'ephemeral'), 'volumeClaimTemplate');
  const claimSpec = optionalFields(claim, 'spec');
  if (!claimSpec) return;
  setDefaults(claimSpec, { volumeMode: 'Filesystem' });
  defaultResources(optionalFields(claimSpec, 'resources'));
}

/** Defaults that pods' volumes and PersistentVolumes share. */
export function defaultVolumeSource(source: Fields): void {
  const hostPath = optionalFields(source, 'hostPath');
  if (hostPath) setDefaults(hostPath, { type: '' });
  const iscsi = optionalFields(source, 'iscsi');
  if (iscsi) setDefaultText(iscsi, 'iscsiInterface', 'default');
  const rbd = optionalFields(source, 'rbd');
  if (rbd) {
    setDefaultText(rbd, 'pool', 'rbd');
    setDefaultText(rbd, 'user', 'admin');
    setDefaultText(rbd, 'keyring', '/etc/ceph/keyring');
  }
  const azureDisk = optionalFields(source, 'azureDisk');
  if (azureDisk) setDefaults(azureDisk, { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false });
  const scaleIO = optionalFields(source, 'scaleIO');
  if (scaleIO) {
    setDefaultText(scaleIO, 'storageMode', 'ThinProvisioned');
    setDefaultText(scaleIO, 'fsType', 'xfs');
  }
}
