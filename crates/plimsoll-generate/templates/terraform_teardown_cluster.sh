# Disks that classes made are none of Terraform's: once the cluster is gone, nobody removes them.
made="$(terraform -chdir="$here/terraform" state list)"
if grep --quiet "^{{cluster}}\$" <<<"$made" && [ "${VOLUMES_MAY_STAY:-no}" != yes ]; then
  hint="or set VOLUMES_MAY_STAY=yes where the disks of its volumes may stay, which cost"
  [ -r "$KUBECONFIG_FILE" ] ||
    stop "$KUBECONFIG_FILE is missing, so nobody knows what volumes the cluster has: run create.sh again, $hint"
  volumes="$(kubectl --kubeconfig "$KUBECONFIG_FILE" get persistentvolumes --output name)" ||
    stop "the cluster does not say what volumes it has: try again, $hint"
  [ -z "$volumes" ] || stop "the cluster has volumes, whose disks would stay: remove their claims first:
$volumes"
fi
