
# Azure Container Storage, version 2.
az extension show --name k8s-extension --output none 2>/dev/null || az extension add --name k8s-extension --only-show-errors
if ! kubectl --kubeconfig "$KUBECONFIG_FILE" get storageclass {{class}} >/dev/null 2>&1; then
  # costs: {{costs}}
  azure aks update --resource-group "$RESOURCE_GROUP" --name "$CLUSTER" --container-storage-version 2 \
    --enable-azure-container-storage {{pool}} --output none
fi
wait_for "Azure Container Storage" azure k8s-extension show --resource-group "$RESOURCE_GROUP" \
  --cluster-name "$CLUSTER" --cluster-type managedClusters --name acstor --query provisioningState --output tsv
