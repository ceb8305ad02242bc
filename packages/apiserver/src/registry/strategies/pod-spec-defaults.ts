import { type Fields, fieldsAt, listAt, optionalFields, setDefaults, setDefaultText, textAt } from './draft-fields.ts';

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
  const hostNetwork = spec.hostNetwork === true;
  for (const key of ['initContainers', 'containers', 'ephemeralContainers']) {
    for (const container of listAt(spec, key)) defaultContainer(container, hostNetwork);
  }
  for (const volume of listAt(spec, 'volumes')) defaultVolume(volume);
  for (const constraint of listAt(spec, 'topologySpreadConstraints')) {
    setDefaults(constraint, { whenUnsatisfiable: 'DoNotSchedule' });
  }
}

/** `serviceAccount` is the old name of `serviceAccountName`; both are shown. */
function mirrorServiceAccount(spec: Fields): void {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (name === '') return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

function defaultContainer(container: Fields, hostNetwork: boolean): void {
  setDefaultText(container, 'imagePullPolicy', pullPolicyOf(textAt(container, 'image')));
  setDefaultText(container, 'terminationMessagePath', '/dev/termination-log');
  setDefaultText(container, 'terminationMessagePolicy', 'File');
  for (const port of listAt(container, 'ports')) {
    setDefaultText(port, 'protocol', 'TCP');
    if (hostNetwork) setDefaults(port, { hostPort: port.containerPort });
  }
  for (const variable of listAt(container, 'env')) {
    const source = optionalFields(variable, 'valueFrom');
    const fieldRef = optionalFields(source, 'fieldRef');
    if (fieldRef) setDefaultText(fieldRef, 'apiVersion', 'v1');
    const resourceRef = optionalFields(source, 'resourceFieldRef');
    if (resourceRef) setDefaults(resourceRef, { divisor: '0' });
  }
  for (const key of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const probe = optionalFields(container, key);
    if (probe) defaultProbe(probe);
  }
  const lifecycle = optionalFields(container, 'lifecycle');
  for (const key of ['postStart', 'preStop']) defaultHttpGet(optionalFields(lifecycle, key));
}

/** `latest` and no tag at all may be another image tomorrow; a digest never is. */
function pullPolicyOf(image: string): string {
  const [name = '', digest] = image.split('@');
  if (digest !== undefined) return 'IfNotPresent';
  const tag = /:([^/:]+)$/.exec(name)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultProbe(probe: Fields): void {
  const zeroIsUnset: Fields = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
  for (const [key, value] of Object.entries(zeroIsUnset)) if (!probe[key]) probe[key] = value;
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

/** 0644 */
const DEFAULT_MODE = 420;

function defaultVolume(volume: Fields): void {
  if (Object.keys(volume).every((key) => key === 'name')) volume.emptyDir = {};
  for (const key of ['configMap', 'secret', 'downwardAPI', 'projected']) {
    const source = optionalFields(volume, key);
    if (source) setDefaults(source, { defaultMode: DEFAULT_MODE });
  }
  for (const item of listAt(optionalFields(volume, 'downwardAPI'), 'items')) defaultFieldRef(item);
  for (const source of listAt(optionalFields(volume, 'projected'), 'sources')) {
    const token = optionalFields(source, 'serviceAccountToken');
    if (token) setDefaults(token, { expirationSeconds: 3600 });
    for (const item of listAt(optionalFields(source, 'downwardAPI'), 'items')) defaultFieldRef(item);
  }
  defaultVolumeSource(volume);
  const claim = optionalFields(optionalFields(volume, 'ephemeral'), 'volumeClaimTemplate');
  const claimSpec = optionalFields(claim, 'spec');
  if (claimSpec) setDefaults(claimSpec, { volumeMode: 'Filesystem' });
}

function defaultFieldRef(item: Fields): void {
  const fieldRef = optionalFields(item, 'fieldRef');
  if (fieldRef) setDefaultText(fieldRef, 'apiVersion', 'v1');
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
