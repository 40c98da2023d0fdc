
# Azure Container Storage, version 1. The nodes have its label from the beginning, by which it finds them.
az extension show --name k8s-extension --output none 2>/dev/null || az extension add --name k8s-extension --only-show-errors
node_group="$(azure aks show --resource-group "$RESOURCE_GROUP" --name "$CLUSTER" --query nodeResourceGroup --output tsv)"
node_group_id="$(azure group show --name "$node_group" --query id --output tsv)"
identity="$(azure aks show --resource-group "$RESOURCE_GROUP" --name "$CLUSTER" \
  --query identityProfile.kubeletidentity.objectId --output tsv)"
# It makes and attaches disks with the identity of the nodes. All of that happens in the group of the nodes, so the role
# made for it holds in that group: Contributor for the subscription, as guides have it, could change everything you own.
azure role assignment create --assignee-object-id "$identity" --assignee-principal-type ServicePrincipal \
  --role "Azure Container Storage Operator" --scope "$node_group_id" --output none
# A tag says what the pool was made of: nothing else of the cluster does.
if ! kubectl --kubeconfig "$KUBECONFIG_FILE" get storageclass {{class}} >/dev/null 2>&1; then
  # costs: {{costs}}
  azure aks update --resource-group "$RESOURCE_GROUP" --name "$CLUSTER" --container-storage-version 1 \
    --enable-azure-container-storage {{pool}} --storage-pool-name plimsoll{{options}} \
    --tags "$TAG" "plimsoll-pool={{planned}}" --output none
else
  same "the pool of the cluster $CLUSTER" "{{planned}}" "$(azure aks show --resource-group "$RESOURCE_GROUP" \
    --name "$CLUSTER" --query "tags.\"plimsoll-pool\"" --output tsv)"
fi
wait_for "Azure Container Storage" azure k8s-extension show --resource-group "$RESOURCE_GROUP" \
  --cluster-name "$CLUSTER" --cluster-type managedClusters --name azurecontainerstorage \
  --query provisioningState --output tsv
