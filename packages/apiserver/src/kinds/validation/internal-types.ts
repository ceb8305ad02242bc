/**
 * The structs in which Kubernetes holds pods within itself, which have no JSON names: what it prints of them in messages is
 * their Go fields, in this order, unset ones too.
 *
 * A field is `Go=json:kind`. Without `=json` its name in JSON is that of Go with a small first letter. The kind says how it
 * looks where it is unset: `s` `""`, `n` 0, `b` false, `q` the quantity 0, `p` (as without a kind) null. A type's name (with
 * `[]` for a list of them, `*` for one that may be null) says what is in it; `...Type` stands for the fields of an embedded
 * struct.
 */
export const INTERNAL_TYPES: Readonly<Record<string, string>> = {
  PodTemplateSpec: '...ObjectMeta Spec:PodSpec',
  PodSpec: `Volumes:[]Volume InitContainers:[]Container Containers:[]Container EphemeralContainers:[]EphemeralContainer
    RestartPolicy:s TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy=dnsPolicy:s NodeSelector
    ServiceAccountName:s AutomountServiceAccountToken NodeName:s SecurityContext:*PodSecurityContext
    ImagePullSecrets:[]LocalObjectReference Hostname:s Subdomain:s SetHostnameAsFQDN Affinity:*Affinity SchedulerName:s
    Tolerations:[]Toleration HostAliases:[]HostAlias PriorityClassName:s Priority PreemptionPolicy
    DNSConfig=dnsConfig:*PodDNSConfig ReadinessGates:[]PodReadinessGate RuntimeClassName Overhead EnableServiceLinks
    TopologySpreadConstraints:[]TopologySpreadConstraint OS=os:*PodOS SchedulingGates:[]PodSchedulingGate
    ResourceClaims:[]PodResourceClaim Resources:*ResourceRequirements HostnameOverride
    SchedulingGroup:*PodSchedulingGroup`,
  PodSecurityContext: `HostNetwork:b HostPID=hostPID:b HostIPC=hostIPC:b ShareProcessNamespace HostUsers
    SELinuxOptions=seLinuxOptions:*SELinuxOptions WindowsOptions:*WindowsSecurityContextOptions RunAsUser RunAsGroup
    RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup=fsGroup FSGroupChangePolicy=fsGroupChangePolicy
    Sysctls:[]Sysctl SeccompProfile:*SeccompProfile AppArmorProfile:*AppArmorProfile
    SELinuxChangePolicy=seLinuxChangePolicy`,
  SecurityContext: `Capabilities:*Capabilities Privileged SELinuxOptions=seLinuxOptions:*SELinuxOptions
    WindowsOptions:*WindowsSecurityContextOptions RunAsUser RunAsGroup RunAsNonRoot ReadOnlyRootFilesystem
    AllowPrivilegeEscalation ProcMount SeccompProfile:*SeccompProfile AppArmorProfile:*AppArmorProfile`,
  Capabilities: 'Add Drop',
  SELinuxOptions: 'User:s Role:s Type:s Level:s',
  WindowsSecurityContextOptions:
    'GMSACredentialSpecName=gmsaCredentialSpecName GMSACredentialSpec=gmsaCredentialSpec RunAsUserName HostProcess',
  SeccompProfile: 'Type:s LocalhostProfile',
  AppArmorProfile: 'Type:s LocalhostProfile',
  Sysctl: 'Name:s Value:s',
  Container: `Name:s Image:s Command Args WorkingDir:s Ports:[]ContainerPort EnvFrom:[]EnvFromSource Env:[]EnvVar
    Resources:ResourceRequirements ResizePolicy:[]ContainerResizePolicy RestartPolicy
    RestartPolicyRules:[]ContainerRestartRule VolumeMounts:[]VolumeMount VolumeDevices:[]VolumeDevice
    LivenessProbe:*Probe ReadinessProbe:*Probe StartupProbe:*Probe Lifecycle:*Lifecycle TerminationMessagePath:s
    TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:*SecurityContext Stdin:b StdinOnce:b TTY=tty:b`,
  EphemeralContainer: '...Container TargetContainerName:s',
  ContainerPort: 'Name:s HostPort:n ContainerPort:n Protocol:s HostIP=hostIP:s',
  EnvFromSource: 'Prefix:s ConfigMapRef:*OptionalReference SecretRef:*OptionalReference',
  OptionalReference: 'Name:s Optional',
  EnvVar: 'Name:s Value:s ValueFrom:*EnvVarSource',
  EnvVarSource: `FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector ConfigMapKeyRef:*KeySelector
    SecretKeyRef:*KeySelector FileKeyRef:*FileKeySelector`,
  ObjectFieldSelector: 'APIVersion=apiVersion:s FieldPath:s',
  ResourceFieldSelector: 'ContainerName:s Resource:s Divisor:q',
  KeySelector: 'Name:s Key:s Optional',
  FileKeySelector: 'VolumeName:s Path:s Key:s Optional',
  ResourceRequirements: 'Limits Requests Claims:[]ResourceClaim',
  ResourceClaim: 'Name:s Request:s',
  ContainerResizePolicy: 'ResourceName:s RestartPolicy:s',
  ContainerRestartRule: 'Action:s ExitCodes:*ContainerRestartRuleOnExitCodes',
  ContainerRestartRuleOnExitCodes: 'Operator:s Values',
  VolumeMount: 'Name:s ReadOnly:b RecursiveReadOnly MountPath:s SubPath:s MountPropagation SubPathExpr:s',
  VolumeDevice: 'Name:s DevicePath:s',
  Probe: `Exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction GRPC=grpc:*GRPCAction
    InitialDelaySeconds:n TimeoutSeconds:n PeriodSeconds:n SuccessThreshold:n FailureThreshold:n
    TerminationGracePeriodSeconds`,
  Lifecycle: 'PostStart:*LifecycleHandler PreStop:*LifecycleHandler StopSignal',
  LifecycleHandler: `Exec:*ExecAction HTTPGet=httpGet:*HTTPGetAction TCPSocket=tcpSocket:*TCPSocketAction
    Sleep:*SleepAction`,
  ExecAction: 'Command',
  HTTPGetAction: 'Path:s Port:n Host:s Scheme:s HTTPHeaders=httpHeaders:[]NameValue',
  TCPSocketAction: 'Port:n Host:s',
  GRPCAction: 'Port:n Service',
  SleepAction: 'Seconds:n',
  NameValue: 'Name:s Value:s',
  LocalObjectReference: 'Name:s',
  Affinity: 'NodeAffinity:*NodeAffinity PodAffinity:*PodAffinity PodAntiAffinity:*PodAffinity',
  NodeAffinity: `RequiredDuringSchedulingIgnoredDuringExecution:*NodeSelector
    PreferredDuringSchedulingIgnoredDuringExecution:[]PreferredSchedulingTerm`,
  NodeSelector: 'NodeSelectorTerms:[]NodeSelectorTerm',
  NodeSelectorTerm: 'MatchExpressions:[]NodeSelectorRequirement MatchFields:[]NodeSelectorRequirement',
  NodeSelectorRequirement: 'Key:s Operator:s Values',
  PreferredSchedulingTerm: 'Weight:n Preference:NodeSelectorTerm',
  PodAffinity: `RequiredDuringSchedulingIgnoredDuringExecution:[]PodAffinityTerm
    PreferredDuringSchedulingIgnoredDuringExecution:[]WeightedPodAffinityTerm`,
  WeightedPodAffinityTerm: 'Weight:n PodAffinityTerm:PodAffinityTerm',
  PodAffinityTerm: 'LabelSelector Namespaces TopologyKey:s NamespaceSelector MatchLabelKeys MismatchLabelKeys',
  Toleration: 'Key:s Operator:s Value:s Effect:s TolerationSeconds',
  HostAlias: 'IP=ip:s Hostnames',
  PodDNSConfig: 'Nameservers Searches Options:[]PodDNSConfigOption',
  PodDNSConfigOption: 'Name:s Value',
  PodReadinessGate: 'ConditionType:s',
  TopologySpreadConstraint: `MaxSkew:n TopologyKey:s WhenUnsatisfiable:s LabelSelector MinDomains NodeAffinityPolicy
    NodeTaintsPolicy MatchLabelKeys`,
  PodOS: 'Name:s',
  PodSchedulingGate: 'Name:s',
  PodResourceClaim: 'Name:s ResourceClaimName ResourceClaimTemplateName',
  PodSchedulingGroup: 'PodGroupName',
  Volume: `Name:s HostPath:*HostPathVolumeSource EmptyDir:*EmptyDirVolumeSource
    GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource
    AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource GitRepo:*GitRepoVolumeSource
    Secret:*SecretVolumeSource NFS=nfs:*NFSVolumeSource ISCSI=iscsi:*ISCSIVolumeSource Glusterfs:*GlusterfsVolumeSource
    PersistentVolumeClaim:*PersistentVolumeClaimVolumeSource RBD=rbd:*RBDVolumeSource Quobyte:*QuobyteVolumeSource
    FlexVolume:*FlexVolumeSource Cinder:*CinderVolumeSource CephFS=cephfs:*CephFSVolumeSource
    Flocker:*FlockerVolumeSource DownwardAPI=downwardAPI:*DownwardAPIVolumeSource FC=fc:*FCVolumeSource
    AzureFile:*AzureFileVolumeSource ConfigMap:*ConfigMapVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource
    AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource
    Projected:*ProjectedVolumeSource PortworxVolume:*PortworxVolumeSource ScaleIO=scaleIO:*ScaleIOVolumeSource
    StorageOS=storageos:*StorageOSVolumeSource CSI=csi:*CSIVolumeSource Ephemeral:*EphemeralVolumeSource
    Image:*ImageVolumeSource`,
  HostPathVolumeSource: 'Path:s Type',
  EmptyDirVolumeSource: 'Medium:s SizeLimit',
  GCEPersistentDiskVolumeSource: 'PDName=pdName:s FSType=fsType:s Partition:n ReadOnly:b',
  AWSElasticBlockStoreVolumeSource: 'VolumeID=volumeID:s FSType=fsType:s Partition:n ReadOnly:b',
  GitRepoVolumeSource: 'Repository:s Revision:s Directory:s',
  SecretVolumeSource: 'SecretName:s Items:[]KeyToPath DefaultMode Optional',
  ConfigMapVolumeSource: 'Name:s Items:[]KeyToPath DefaultMode Optional',
  KeyToPath: 'Key:s Path:s Mode',
  NFSVolumeSource: 'Server:s Path:s ReadOnly:b',
  ISCSIVolumeSource: `TargetPortal:s IQN=iqn:s Lun:n ISCSIInterface=iscsiInterface:s FSType=fsType:s ReadOnly:b Portals
    DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b SecretRef:*LocalObjectReference
    InitiatorName`,
  GlusterfsVolumeSource: 'EndpointsName=endpoints:s Path:s ReadOnly:b',
  PersistentVolumeClaimVolumeSource: 'ClaimName:s ReadOnly:b',
  RBDVolumeSource: `CephMonitors=monitors RBDImage=image:s FSType=fsType:s RBDPool=pool:s RadosUser=user:s Keyring:s
    SecretRef:*LocalObjectReference ReadOnly:b`,
  QuobyteVolumeSource: 'Registry:s Volume:s ReadOnly:b User:s Group:s Tenant:s',
  FlexVolumeSource: 'Driver:s FSType=fsType:s SecretRef:*LocalObjectReference ReadOnly:b Options',
  CinderVolumeSource: 'VolumeID=volumeID:s FSType=fsType:s ReadOnly:b SecretRef:*LocalObjectReference',
  CephFSVolumeSource: 'Monitors Path:s User:s SecretFile:s SecretRef:*LocalObjectReference ReadOnly:b',
  FlockerVolumeSource: 'DatasetName:s DatasetUUID=datasetUUID:s',
  DownwardAPIVolumeSource: 'Items:[]DownwardAPIVolumeFile DefaultMode',
  DownwardAPIVolumeFile: 'Path:s FieldRef:*ObjectFieldSelector ResourceFieldRef:*ResourceFieldSelector Mode',
  FCVolumeSource: 'TargetWWNs=targetWWNs Lun FSType=fsType:s ReadOnly:b WWIDs=wwids',
  AzureFileVolumeSource: 'SecretName:s ShareName:s ReadOnly:b',
  VsphereVirtualDiskVolumeSource: 'VolumePath:s FSType=fsType:s StoragePolicyName:s StoragePolicyID=storagePolicyID:s',
  AzureDiskVolumeSource: 'DiskName:s DataDiskURI=diskURI:s CachingMode FSType=fsType ReadOnly Kind',
  PhotonPersistentDiskVolumeSource: 'PdID=pdID:s FSType=fsType:s',
  ProjectedVolumeSource: 'Sources:[]VolumeProjection DefaultMode',
  VolumeProjection: `Secret:*KeyedProjection DownwardAPI=downwardAPI:*DownwardAPIProjection ConfigMap:*KeyedProjection
    ServiceAccountToken:*ServiceAccountTokenProjection ClusterTrustBundle:*ClusterTrustBundleProjection
    PodCertificate:*PodCertificateProjection`,
  KeyedProjection: 'Name:s Items:[]KeyToPath Optional',
  DownwardAPIProjection: 'Items:[]DownwardAPIVolumeFile',
  ServiceAccountTokenProjection: 'Audience:s ExpirationSeconds:n Path:s',
  ClusterTrustBundleProjection: 'Name SignerName LabelSelector Optional Path:s',
  PodCertificateProjection: `SignerName:s KeyType:s MaxExpirationSeconds CredentialBundlePath:s KeyPath:s
    CertificateChainPath:s UserAnnotations`,
  PortworxVolumeSource: 'VolumeID=volumeID:s FSType=fsType:s ReadOnly:b',
  ScaleIOVolumeSource: `Gateway:s System:s SecretRef:*LocalObjectReference SSLEnabled=sslEnabled:b ProtectionDomain:s
    StoragePool:s StorageMode:s VolumeName:s FSType=fsType:s ReadOnly:b`,
  StorageOSVolumeSource: 'VolumeName:s VolumeNamespace:s FSType=fsType:s ReadOnly:b SecretRef:*LocalObjectReference',
  CSIVolumeSource: `Driver:s ReadOnly FSType=fsType VolumeAttributes
    NodePublishSecretRef:*LocalObjectReference`,
  EphemeralVolumeSource: 'VolumeClaimTemplate',
  ImageVolumeSource: 'Reference:s PullPolicy:s',
  PersistentVolumeClaimSpec: `AccessModes Selector Resources:VolumeResourceRequirements VolumeName:s StorageClassName VolumeMode
    DataSource:*TypedLocalObjectReference DataSourceRef:*TypedObjectReference VolumeAttributesClassName`,
  VolumeResourceRequirements: 'Limits Requests',
  TypedLocalObjectReference: 'APIGroup=apiGroup Kind:s Name:s',
  TypedObjectReference: 'APIGroup=apiGroup Kind:s Name:s Namespace',
  PersistentVolumeSource: `GCEPersistentDisk=gcePersistentDisk:*GCEPersistentDiskVolumeSource
    AWSElasticBlockStore=awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource HostPath:*HostPathVolumeSource
    Glusterfs:*GlusterfsPersistentVolumeSource NFS=nfs:*NFSVolumeSource RBD=rbd:*RBDPersistentVolumeSource
    Quobyte:*QuobyteVolumeSource ISCSI=iscsi:*ISCSIPersistentVolumeSource FlexVolume:*FlexPersistentVolumeSource
    Cinder:*CinderPersistentVolumeSource CephFS=cephfs:*CephFSPersistentVolumeSource FC=fc:*FCVolumeSource
    Flocker:*FlockerVolumeSource AzureFile:*AzureFilePersistentVolumeSource VsphereVolume:*VsphereVirtualDiskVolumeSource
    AzureDisk:*AzureDiskVolumeSource PhotonPersistentDisk:*PhotonPersistentDiskVolumeSource
    PortworxVolume:*PortworxVolumeSource ScaleIO=scaleIO:*ScaleIOPersistentVolumeSource Local:*LocalVolumeSource
    StorageOS=storageos:*StorageOSPersistentVolumeSource CSI=csi:*CSIPersistentVolumeSource`,
  SecretReference: 'Name:s Namespace:s',
  LocalVolumeSource: 'Path:s FSType=fsType',
  GlusterfsPersistentVolumeSource: 'EndpointsName=endpoints:s Path:s ReadOnly:b EndpointsNamespace',
  RBDPersistentVolumeSource: `CephMonitors=monitors RBDImage=image:s FSType=fsType:s RBDPool=pool:s RadosUser=user:s
    Keyring:s SecretRef:*SecretReference ReadOnly:b`,
  ISCSIPersistentVolumeSource: `TargetPortal:s IQN=iqn:s Lun:n ISCSIInterface=iscsiInterface:s FSType=fsType:s ReadOnly:b
    Portals DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b SecretRef:*SecretReference
    InitiatorName`,
  FlexPersistentVolumeSource: 'Driver:s FSType=fsType:s SecretRef:*SecretReference ReadOnly:b Options',
  CinderPersistentVolumeSource: 'VolumeID=volumeID:s FSType=fsType:s ReadOnly:b SecretRef:*SecretReference',
  CephFSPersistentVolumeSource: 'Monitors Path:s User:s SecretFile:s SecretRef:*SecretReference ReadOnly:b',
  AzureFilePersistentVolumeSource: 'SecretName:s ShareName:s ReadOnly:b SecretNamespace',
  ScaleIOPersistentVolumeSource: `Gateway:s System:s SecretRef:*SecretReference SSLEnabled=sslEnabled:b ProtectionDomain:s
    StoragePool:s StorageMode:s VolumeName:s FSType=fsType:s ReadOnly:b`,
  StorageOSPersistentVolumeSource:
    'VolumeName:s VolumeNamespace:s FSType=fsType:s ReadOnly:b SecretRef:*ObjectReference',
  ObjectReference: `Kind:s Namespace:s Name:s UID=uid:s APIVersion=apiVersion:s ResourceVersion:s FieldPath:s`,
  CSIPersistentVolumeSource: `Driver:s VolumeHandle:s ReadOnly:b FSType=fsType:s VolumeAttributes
    ControllerPublishSecretRef:*SecretReference NodeStageSecretRef:*SecretReference NodePublishSecretRef:*SecretReference
    ControllerExpandSecretRef:*SecretReference NodeExpandSecretRef:*SecretReference`,
  PodFailurePolicy: 'Rules:[]PodFailurePolicyRule',
  PodFailurePolicyRule: `Action:s OnExitCodes:*PodFailurePolicyOnExitCodesRequirement
    OnPodConditions:[]PodFailurePolicyOnPodConditionsPattern`,
  PodFailurePolicyOnExitCodesRequirement: 'ContainerName Operator:s Values',
  PodFailurePolicyOnPodConditionsPattern: 'Type:s Status:s',
  SuccessPolicy: 'Rules:[]SuccessPolicyRule',
  SuccessPolicyRule: 'SucceededIndexes SucceededCount',
  PodDisruptionBudgetSpec: 'MinAvailable Selector MaxUnavailable UnhealthyPodEvictionPolicy',
  Taint: 'Key:s Value:s Effect:s TimeAdded',
  ServicePort: 'Name:s Protocol:s AppProtocol Port:n TargetPort:n NodePort:n',
  RoleRef: 'APIGroup=apiGroup:s Kind:s Name:s',
  ParentReference: 'Group:s Resource:s Namespace:s Name:s',
  EventSource: 'Component:s Host:s',
  EventSeries: 'Count:n LastObservedTime',
  ResourceClaimSpec: 'Devices:DeviceClaim',
  ResourceClaimTemplateSpec: '...ObjectMeta Spec:ResourceClaimSpec',
  DeviceClaim: 'Requests:[]DeviceRequest Constraints:[]DeviceConstraint Config:[]DeviceClaimConfiguration',
  DeviceRequest: 'Name:s Exactly:*ExactDeviceRequest FirstAvailable:[]DeviceSubRequest',
  ExactDeviceRequest: `DeviceClassName:s Selectors:[]DeviceSelector AllocationMode:s Count:n AdminAccess
    Tolerations:[]DeviceToleration Capacity:*CapacityRequirements`,
  DeviceSubRequest: `Name:s DeviceClassName:s Selectors:[]DeviceSelector AllocationMode:s Count:n
    Tolerations:[]DeviceToleration Capacity:*CapacityRequirements`,
  DeviceSelector: 'CEL=cel:*CELDeviceSelector',
  CELDeviceSelector: 'Expression:s',
  DeviceToleration: 'Key:s Operator:s Value:s Effect:s TolerationSeconds',
  CapacityRequirements: 'Requests',
  DeviceConstraint: 'Requests MatchAttribute DistinctAttribute',
  DeviceClaimConfiguration: 'Requests Opaque:*OpaqueDeviceConfiguration',
  OpaqueDeviceConfiguration: 'Driver:s Parameters',
  CSINodeDriver: 'Name:s NodeID=nodeID:s TopologyKeys Allocatable:*VolumeNodeResources',
  VolumeNodeResources: 'Count',
  VolumeAttachmentSpec: 'Attacher:s Source:VolumeAttachmentSource NodeName:s',
  VolumeAttachmentSource: 'PersistentVolumeName InlineVolumeSpec',
};
