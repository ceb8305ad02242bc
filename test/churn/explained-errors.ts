/** Errors that a controller may meet before our server in a run in which it did not before the real one, and why. */
export const EXPLAINED_ERRORS: readonly { line: RegExp; why: string }[] = [
  {
    line: /cannot set Complete=True condition without the SuccessCriteriaMet=true condition/,
    why: 'Kubernetes 1.31 and newer refuse it, in these words; the controller of 1.20 knows no such condition',
  },
  {
    line: /startTime cannot be removed for unsuspended job|completionTime cannot be mutated/,
    why: 'Kubernetes 1.31 and newer refuse it; the controller of 1.20 writes again what its cache shows not written',
  },
  {
    line: /^(?:replica_set|stateful_set|daemon_controller|deployment_controller|job_controller|disruption|endpoints?(?:slice)?_controller|clusterroleaggregation_controller|cronjob_controller)\.go:\d+\] .*Operation cannot be fulfilled on .*: the object has been modified; please apply your changes to the latest version and try again$/,
    why: 'its cache, or its list of all CronJobs, is behind the last write: which of these controllers meets it, and on which object, is chance',
  },
  {
    line: /^(?:replica_set|stateful_set|daemon_controller|deployment_controller|job_controller|disruption|endpoints?(?:slice)?_controller)\.go:\d+\] .*(?:replicasets|statefulsets|daemonsets|deployments|jobs|pods)\.?\S* "[^"]+" not found$/,
    why: 'what it worked on was deleted meanwhile',
  },
  {
    line: /^stateful_set_status_updater\.go:\d+\] error getting updated StatefulSet \S+ from lister: statefulset\.apps "[^"]+" not found$/,
    why: 'what it worked on was deleted meanwhile',
  },
  {
    line: /^garbagecollector\.go:\d+\] error syncing item .*: \S+ "[^"]+" not found$/,
    why: 'what it was about to delete was deleted meanwhile',
  },
  {
    line: /is forbidden: unable to create new content in namespace \S+ because it is being terminated/,
    why: 'which controller is at work in a namespace when it ends is chance',
  },
  {
    line: /^stateful_set\.go:\d+\] .* pods "[^"]+" already exists, the server was not able to generate a unique name for the object$/,
    why: 'its cache does not have the pod yet; 1.20 told of it as a timeout of the server, as the pod has a generateName too',
  },
  {
    line: /^pv_controller\.go:\d+\] error finding provisioning plugin for claim \S+: storageclass\.storage\.k8s\.io "[^"]+" not found$/,
    why: 'there is no such class, volumes are made by hand: whether it sees the claim before a volume for it is chance',
  },
  {
    line: /^event_broadcaster\.go:\d+\] .*is invalid: series\.count: Invalid value: "": should be at least 2/,
    why: 'newer versions refuse it in events.k8s.io/v1; the recorder of 1.20 begins a series at 1',
  },
];
