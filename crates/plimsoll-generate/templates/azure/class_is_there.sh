class_is_there() {
  kubectl --kubeconfig "$KUBECONFIG_FILE" get storageclass "$1" >/dev/null && echo Succeeded
}
wait_for "the StorageClass {{class}}" class_is_there {{class}}
