# Disks that classes made are none of Terraform's: once the cluster is gone, nobody removes them.
if [ -r "$KUBECONFIG_FILE" ] && [ "$mode" != --dry-run ]; then
  volumes="$(kubectl --kubeconfig "$KUBECONFIG_FILE" get persistentvolumes --output name)"
  [ -z "$volumes" ] || stop "the cluster has volumes, whose disks would stay: remove their claims first:
$volumes"
fi
